import CALSA
import LinuxSystem

/// A sound card with its devices and mixer controls.
public struct CardDescription: Sendable, Equatable {
  /// The current number of the card. It can change when the card is plugged in again.
  public var number: Int
  /// The name of the card within ALSA, which does not change: `USB` in `hw:CARD=USB`.
  public var id: String
  /// The display name of the card.
  public var name: String
  /// The PCM devices of the card, by number.
  public var devices: [DeviceDescription]
  /// The adjustable controls of the card's mixer, those for the input first.
  public var controls: [MixerControl] = []
  /// The reason why the devices are not known; nil if they are.
  public var failure: DeviceFailure?
}

/// A PCM device of a card: an input, an output, or both on one converter.
public struct DeviceDescription: Sendable, Equatable {
  /// The ALSA name that opens the device, such as `hw:CARD=USB,DEV=0`.
  public var name: String
  /// The display name of the device.
  public var title: String
  /// The input; nil if there is none.
  public var capture: StreamDescription?
  /// The output; nil if there is none.
  public var playback: StreamDescription?
}

/// One direction of a PCM device.
public struct StreamDescription: Sendable, Equatable {
  /// The result of the attempt to open a stream.
  public enum State: Sendable, Equatable {
    /// The stream is free and supports these settings.
    case free(StreamAbilities)
    /// The stream is in use, by this program if it is known. Its abilities are not available until
    /// it is free.
    case busy(BusyHolder?)
    /// The stream cannot be opened.
    case failed(DeviceFailure)
  }

  /// The number of programs that can have the stream open at the same time.
  public var subdeviceCount: Int
  /// The state in which the stream was found.
  public var state: State
}

/// The formats, rates, channel counts and sizes that one direction of a device supports. Each range
/// is independent of the others: not every combination is supported.
public struct StreamAbilities: Sendable, Equatable {
  /// The ALSA names of the sample formats.
  public var formats: [String]
  /// The lowest and highest sample rate in Hz.
  public var sampleRates: ClosedRange<Int>
  /// The lowest and highest number of channels.
  public var channelCounts: ClosedRange<Int>
  /// The shortest and longest period in frames, which is the distance of two interrupts.
  public var periodFrames: ClosedRange<Int>
  /// The smallest and largest size of the device's buffer in frames.
  public var bufferFrames: ClosedRange<Int>
}

/// A PCM that ALSA's configuration defines: a plugin, or a name for hardware.
public struct NamedPCM: Sendable, Equatable {
  /// The ALSA name that opens it.
  public var name: String
  /// The description in the configuration, in lines.
  public var comment: String
  /// Whether the PCM can be used as an input.
  public var canCapture: Bool
  /// Whether the PCM can be used as an output.
  public var canPlay: Bool
}

/// The program that has a device open.
public struct BusyHolder: Sendable, Equatable, CustomStringConvertible {
  /// The name of the program, truncated by the kernel to 15 bytes.
  public var name: String
  /// The process ID.
  public var process: Int

  /// The text for messages, such as `pipewire (process 812)`.
  public var description: String { "\(name) (process \(process))" }
}

/// The devices of this machine at one moment.
///
/// ```swift
/// for device in DeviceList.current().devices where device.canPlay {
///   print(device.name, device.title)
/// }
/// ```
public struct DeviceList: Sendable, Equatable {
  /// The sound cards.
  public var cards: [CardDescription]
  /// The PCMs that ALSA's configuration defines.
  public var named: [NamedPCM]
  /// The PCMs of the configuration that a user or a sound server has defined and that need no
  /// arguments.
  public var defined: [DeviceCandidate] = []
  /// The number of the default card, which is used unless the configuration defines another device;
  /// nil if it is not known or not present.
  public var defaultCard: Int?

  /// Returns all devices of the machine. Opens each free device for a moment, so do not call it
  /// while audio runs or is about to start.
  public static func current() -> DeviceList {
    ALSALibrary.prepare()
    let numbers = (0..<maximumCards).filter(isThere)
    return DeviceList(
      cards: numbers.map(card), named: PCMHints().named, defined: DeviceNames.defined(),
      defaultCard: DeviceNames.defaultCard().flatMap { card in
        numbers.contains { Int($0) == card } ? card : nil
      })
  }

  /// The kernel's limit.
  private static let maximumCards: Int32 = 32

  /// Returns whether the card exists. Reads the kernel's list as well: ALSA skips a card that this
  /// user may not open, and the reason for its absence would then be unknown.
  private static func isThere(_ number: Int32) -> Bool {
    snd_card_load(number) == 1 || kernelID(number) != nil
  }

  private static func card(_ number: Int32) -> CardDescription {
    do throws(DeviceFailure) {
      var description = try CardControl(card: number).description
      description.controls = CardMixers.controls(ofCard: Int(number))
      return description
    } catch {
      let id = kernelID(number) ?? "\(number)"
      return CardDescription(number: Int(number), id: id, name: id, devices: [], failure: error)
    }
  }

  private static func kernelID(_ number: Int32) -> String? {
    CardFiles.ofThisMachine.id(of: Int(number))
  }
}

extension DeviceList {
  /// The devices of all cards.
  public var devices: [DeviceCandidate] {
    cards.flatMap { card in
      card.devices.map {
        DeviceCandidate(
          name: $0.name, title: $0.title, card: card.id, cardTitle: card.name,
          canCapture: $0.capture != nil, canPlay: $0.playback != nil)
      }
    }
  }
}

/// The kernel's list of cards, which changes when a card is plugged in or unplugged. Any thread but
/// the audio thread.
public enum CardList {
  /// The list as text; empty if the kernel has no sound support.
  public static var text: String {
    if let text = SystemFiles.ofThisMachine.text("/proc/asound/cards") { return text }
    // A container may hide the list.
    let cards = CardFiles.ofThisMachine
    return cards.numbers.map { "\($0) \(cards.id(of: $0) ?? "")\n" }.joined()
  }
}
