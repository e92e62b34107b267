import AudioBasics
import Glibc
import RealtimeAudio

/// A control of a card's mixer in one direction: a volume, a switch, or both.
public struct MixerControl: Sendable, Equatable {
  /// Its name within the mixer, as `amixer` takes it.
  public var name: String
  /// Whether it is for the input.
  public var isCapture: Bool
  /// The volume of the loudest channel, of 1; nil where it has none.
  public var volume: Double?
  /// The same in dB, where the card has a scale for it.
  public var decibels: Double?
  /// Whether its switch lets any channel through; nil where it has none.
  public var isOn: Bool?
}

/// The mixers of cards, which set volumes before anything of a sound is seen here.
/// Any thread but the audio thread.
public enum CardMixers {
  /// The controls behind an ALSA name that have something to set for the input, or for the output,
  /// in the card's order. May take long where a sound server stands for the card. Throws where
  /// there is no such card, or its mixer cannot be read.
  public static func controls(
    of device: String, isCapture: Bool
  ) throws(DeviceFailure) -> [MixerControl] {
    let mixer = try CardMixer(opening: mixerName(of: device))
    return mixer.elements(isCapture ? .capture : .playback).map(\.control)
  }

  /// All that the mixer of a card has to set, those for the input first; none where it has no
  /// mixer.
  static func controls(ofCard number: Int) -> [MixerControl] {
    guard let mixer = try? CardMixer(opening: "hw:\(number)") else { return [] }
    return (mixer.elements(.capture) + mixer.elements(.playback)).map(\.control)
  }

  /// The control that makes the whole input, or the whole output, louder.
  static func main(_ mixer: borrowing CardMixer, _ direction: PCMDirection) -> MixerElement? {
    let elements = mixer.elements(direction).filter { $0.hasVolume && $0.range != nil }
    let names =
      direction == .capture
      ? ["Capture", "Mic", "Line", "Digital"] : ["Master", "PCM", "Speaker", "Headphone"]
    for name in names {
      if let element = elements.first(where: { $0.name == name }) { return element }
    }
    return elements.first
  }

  /// Why only silence comes in, as far as the mixer knows: the control in question. Of several
  /// inputs of a card all must be off, since one is enough.
  public static func silencing(_ controls: [MixerControl]) -> MixerControl? {
    let captures = controls.filter(\.isCapture)
    if let off = captures.first(where: { $0.name == "Capture" && $0.isOn == false }) { return off }
    let switched = captures.filter { $0.isOn != nil }
    if !switched.isEmpty, switched.allSatisfy({ $0.isOn == false }) {
      return switched.first { $0.name == "Mic" } ?? switched.first
    }
    let loud = captures.filter { $0.volume != nil && $0.isOn != false }
    return loud.allSatisfy { $0.volume == 0 } ? loud.first : nil
  }

  /// The control device behind an ALSA name: that of its card; a name that speaks of none, as
  /// `default`, has one of its own.
  static func mixerName(of device: String) -> String {
    if let card = DeviceIdentity.card(behind: device) { return "hw:CARD=\(card)" }
    return String(device.prefix { $0 != ":" })
  }
}

/// A volume as it is asked for.
public enum MixerVolume: Sendable, Equatable {
  /// Of the control's range, 0 to 100.
  case percent(Double)
  /// On the card's scale.
  case decibels(Double)
}

/// A volume that was set for a while: put back by `restore`, at the latest when the program exits.
///
/// What ends the program at once, SIGKILL above all, leaves it as it is.
public final class VolumeChange: Sendable {
  private let device: String
  private let direction: PCMDirection
  private let name: String
  private let index: Int
  private let former: [Int]
  /// The control as the mixer has it now.
  public let control: MixerControl
  /// Whether that is what was asked for: the mixer of a sound server may take a volume and leave it
  /// as it was.
  public let isTaken: Bool

  private static let live = MutexBox<[VolumeChange]>([])
  private static let restoresAtExit: Void = {
    atexit { VolumeChange.restoreAll() }
  }()

  /// Sets the volume of the input or the output behind an ALSA name. Throws `.notFound` where there
  /// is no mixer or no volume, `.refused` and `.invalidRequest` where it cannot be set so.
  public init(of device: String, isCapture: Bool, to volume: MixerVolume) throws(DeviceFailure) {
    if case .percent(let percent) = volume, !(0...100).contains(percent) {
      throw DeviceFailure(
        .invalidRequest, "The volume \(percent) % is not from 0 to 100 %.",
        hint: "Ask for a share of the control's range, or for dB.")
    }
    let direction: PCMDirection = isCapture ? .capture : .playback
    let mixer = try CardMixer(opening: CardMixers.mixerName(of: device))
    guard let element = CardMixers.main(mixer, direction), let range = element.range else {
      throw DeviceFailure(
        .notFound, "The \(direction.noun) of \(device) has no volume that could be set.",
        hint: "Set it on the device itself, or multiply the samples.", remedy: .applyGain)
    }
    let value: Int
    switch volume {
    case .percent(let percent):
      let (lowest, highest) = (Double(range.lowerBound), Double(range.upperBound))
      value = Int(rounding: lowest + (highest - lowest) * percent / 100)
    case .decibels(let decibels):
      value = try Self.value(of: decibels, element, range, device)
    }
    self.device = device
    self.direction = direction
    name = element.name
    index = element.index
    former = element.volumes
    guard element.set(former.map { _ in value }) else {
      _ = element.set(former)
      throw DeviceFailure(
        .refused, "The volume of \(element.name) on \(device) cannot be changed.",
        hint: "`amixer scontents` shows what the mixer allows.")
    }
    var present = Self.look(at: device, direction)
    if present?.volumes.contains(where: { $0 != value }) == true {
      // A server may take a moment.
      HostClock.pause(milliseconds: 100)
      present = Self.look(at: device, direction)
    }
    control = present?.control ?? element.control
    isTaken = present?.volumes.allSatisfy { $0 == value } ?? true
    _ = Self.restoresAtExit
    Self.live.withLock { $0.append(self) }
  }

  /// What a mixer that is opened anew says: the one that set a volume remembers what it asked for.
  private static func look(at device: String, _ direction: PCMDirection) -> (
    control: MixerControl, volumes: [Int]
  )? {
    do throws(DeviceFailure) {
      let mixer = try CardMixer(opening: CardMixers.mixerName(of: device))
      return CardMixers.main(mixer, direction).map { ($0.control, $0.volumes) }
    } catch {
      return nil
    }
  }

  private static func value(
    of decibels: Double, _ element: MixerElement, _ range: ClosedRange<Int>, _ device: String
  ) throws(DeviceFailure) -> Int {
    guard let value = element.value(ofDecibels: decibels),
      let lowest = element.decibels(of: range.lowerBound),
      let highest = element.decibels(of: range.upperBound)
    else {
      throw DeviceFailure(
        .invalidRequest, "The volume of \(element.name) on \(device) has no scale in dB.",
        hint: "Use a part of its range, such as 80%.")
    }
    guard decibels <= highest, decibels >= lowest else {
      throw DeviceFailure(
        .invalidRequest,
        "The volume of \(element.name) on \(device) goes from \(lowest) to \(highest) dB.",
        hint: "Use a value in that range, or a part of it, such as 80%.")
    }
    return value
  }

  /// Puts back what was there before. A card that has gone has nothing to be put back.
  public func restore() {
    let isLive = Self.live.withLock { live in
      let count = live.count
      live.removeAll { $0 === self }
      return live.count < count
    }
    guard isLive, let mixer = try? CardMixer(opening: CardMixers.mixerName(of: device)) else {
      return
    }
    let element = mixer.elements(direction).first { $0.name == name && $0.index == index }
    _ = element?.set(former)
  }

  /// Puts back all that is still changed, before a program ends in a hurry.
  public static func restoreAll() {
    while let change = live.withLock({ $0.last }) { change.restore() }
  }
}
