import AudioBasics
import Glibc
import LinuxSystem
import RealtimeAudio

/// A control of a card's mixer in one direction: a volume, a switch, or both.
public struct MixerControl: Sendable, Equatable {
  /// The name of the control within the mixer, as `amixer` accepts it.
  public var name: String
  /// Whether the control is for the input.
  public var isCapture: Bool
  /// The volume of the loudest channel, from 0 to 1; nil if the control has no volume.
  public var volume: Double?
  /// The same volume in dB; nil if the card has no dB scale.
  public var decibels: Double?
  /// Whether the switch is on for any channel; nil if the control has no switch.
  public var isOn: Bool?
}

/// The mixers of cards. Their volumes apply in the device, outside of this library. Any thread but
/// the audio thread.
public enum CardMixers {
  /// Returns the adjustable controls of the input, or of the output, of an ALSA device, in the
  /// card's order. May take long if a sound server replaces the card. Throws if there is no such
  /// card, or its mixer cannot be read.
  public static func controls(
    of device: String, isCapture: Bool
  ) throws(DeviceFailure) -> [MixerControl] {
    let mixer = try CardMixer(opening: mixerName(of: device))
    return mixer.elements(isCapture ? .capture : .playback).map(\.control)
  }

  /// Returns all adjustable controls of a card's mixer, those for the input first; none if the card
  /// has no mixer.
  static func controls(ofCard number: Int) -> [MixerControl] {
    guard let mixer = try? CardMixer(opening: "hw:\(number)") else { return [] }
    return (mixer.elements(.capture) + mixer.elements(.playback)).map(\.control)
  }

  /// Returns the control for the volume of the whole input or the whole output; nil if there is
  /// none.
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

  /// Returns the control because of which only silence is captured, as far as the mixer reports it;
  /// nil if there is none. If a card has several inputs, all of them must be off, because one is
  /// enough.
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

  /// Returns the control device for an ALSA name: that of its card. A name that refers to no card,
  /// such as `default`, is the name of a control device as well.
  static func mixerName(of device: String, among cards: CardFiles = .ofThisMachine) -> String {
    // A card that is not listed keeps the name that it has in `device`. Without the card, `hw`
    // would be the mixer of the first card.
    DeviceIdentity.namedCard(of: device, among: cards).map { "hw:CARD=\($0)" }
      ?? String(device.prefix { $0 != ":" })
  }
}

/// A requested volume.
public enum MixerVolume: Sendable, Equatable {
  /// The percentages of a control's range.
  package static let percentages = 0.0...100

  /// A percentage of the control's range, 0 to 100.
  case percent(Double)
  /// A volume in dB on the card's scale.
  case decibels(Double)
}

/// A temporary change of a volume. `restore` sets the previous volume again, at the latest when the
/// program exits.
///
/// A signal that ends the program at once, above all SIGKILL, leaves the volume changed.
public final class VolumeChange: Sendable {
  /// The control device as it was found first, and the identity of its card.
  private let mixerName: String
  private let identity: String
  private let cards: CardFiles
  private let direction: PCMDirection
  private let name: String
  private let index: Int
  private let former: [Int]
  /// The control as the mixer reported it after the change.
  public let control: MixerControl
  /// Whether the mixer reports the requested volume. The mixer of a sound server may accept a
  /// volume without applying it.
  public let isTaken: Bool

  private static let live = MutexBox<[VolumeChange]>([])
  private static let restoresAtExit: Void = {
    atexit { VolumeChange.restoreAll() }
  }()

  /// Sets the volume of the input or the output of an ALSA device. Throws `.notFound` if there is
  /// no mixer or no volume, `.refused` or `.invalidRequest` if it cannot be set to this value.
  public convenience init(
    of device: String, isCapture: Bool, to volume: MixerVolume
  ) throws(DeviceFailure) {
    try self.init(of: device, isCapture: isCapture, to: volume, among: .ofThisMachine)
  }

  /// Does the same with the cards that `cards` lists.
  init(
    of device: String, isCapture: Bool, to volume: MixerVolume, among cards: CardFiles
  ) throws(DeviceFailure) {
    if case .percent(let percent) = volume, !MixerVolume.percentages.contains(percent) {
      throw DeviceFailure(
        .invalidRequest,
        "The volume \(percent) % is not from \(MixerVolume.percentages.boundsText) %.",
        hint: "Ask for a share of the control's range, or for dB.")
    }
    let direction: PCMDirection = isCapture ? .capture : .playback
    let mixerName = CardMixers.mixerName(of: device, among: cards)
    identity = DeviceIdentity.of(mixerName, among: cards)
    let mixer = try CardMixer(opening: mixerName)
    guard let element = CardMixers.main(mixer, direction), let range = element.range else {
      throw DeviceFailure(
        .notFound, "The \(direction.noun) of \(device) has no volume that could be set.",
        hint: "Set it on the device itself, or multiply the samples.", remedy: .applyGain)
    }
    let value = try Self.value(of: volume, element, range, device)
    self.mixerName = mixerName
    self.cards = cards
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
    let present = Self.inspect(at: mixerName, direction, awaiting: value)
    control = present?.control ?? element.control
    isTaken = present?.volumes.allSatisfy { $0 == value } ?? true
    _ = Self.restoresAtExit
    Self.live.withLock { $0.append(self) }
  }

  /// Returns the setting that a newly opened mixer reports, read again after 0.1 s if it is not
  /// `value`: a server may need a moment. Returns nil if it cannot be read.
  private static func inspect(
    at mixerName: String, _ direction: PCMDirection, awaiting value: Int
  ) -> (control: MixerControl, volumes: [Int])? {
    let present = inspect(at: mixerName, direction)
    guard let present, present.volumes.contains(where: { $0 != value }) else { return present }
    HostClock.pause(milliseconds: 100)
    return inspect(at: mixerName, direction)
  }

  /// Returns the setting that a newly opened mixer reports. The mixer that set a volume would
  /// report the requested value. Returns nil if it cannot be read.
  private static func inspect(at mixerName: String, _ direction: PCMDirection) -> (
    control: MixerControl, volumes: [Int]
  )? {
    do throws(DeviceFailure) {
      let mixer = try CardMixer(opening: mixerName)
      return CardMixers.main(mixer, direction).map { ($0.control, $0.volumes) }
    } catch {
      return nil
    }
  }

  private static func value(
    of volume: MixerVolume, _ element: MixerElement, _ range: ClosedRange<Int>, _ device: String
  ) throws(DeviceFailure) -> Int {
    switch volume {
    case .percent(let percent):
      let (lowest, highest) = (Double(range.lowerBound), Double(range.upperBound))
      return Int(rounding: lowest + (highest - lowest) * percent / 100)
    case .decibels(let decibels):
      return try value(of: decibels, element, range, device)
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

  /// Sets the previous volume again. Does nothing if the card is gone, or another card has its name
  /// now.
  public func restore() {
    let isLive = Self.live.withLock { live in
      let count = live.count
      live.removeAll { $0 === self }
      return live.count < count
    }
    guard isLive, DeviceIdentity.of(mixerName, among: cards) == identity,
      let mixer = try? CardMixer(opening: mixerName)
    else { return }
    let element = mixer.elements(direction).first { $0.name == name && $0.index == index }
    _ = element?.set(former)
  }

  /// Restores all volumes that are still changed, before a program ends early.
  public static func restoreAll() {
    while let change = live.withLock({ $0.last }) { change.restore() }
  }
}
