import CALSA

/// A sound card and what it has.
public struct CardDescription: Sendable, Equatable {
  /// The number it has today. Another plug, another number.
  public var number: Int
  /// Its name within ALSA, which stays: `USB` in `hw:CARD=USB`.
  public var id: String
  /// Its name for people.
  public var name: String
  /// Its PCM devices, by number.
  public var devices: [DeviceDescription]
  /// What its mixer has to set, those for the input first.
  public var controls: [MixerControl] = []
  /// Why its devices are not known, where they are not.
  public var failure: DeviceFailure?
}

/// A PCM device of a card: the input, the output, or both of one converter.
public struct DeviceDescription: Sendable, Equatable {
  /// The ALSA name that opens it, `hw:CARD=USB,DEV=0`.
  public var name: String
  /// Its name for people.
  public var title: String
  /// Its input, where it has one.
  public var capture: StreamDescription?
  /// Its output, where it has one.
  public var playback: StreamDescription?
}

/// One direction of a PCM device.
public struct StreamDescription: Sendable, Equatable {
  /// The result of the attempt to open it.
  public enum State: Sendable, Equatable {
    /// Free, and able to do this.
    case free(StreamAbilities)
    /// In use, by whom if that is known. What it can do is not told while it is.
    case busy(BusyHolder?)
    /// Not to be opened.
    case failed(DeviceFailure)
  }

  /// Programs that can have it open at the same time.
  public var subdeviceCount: Int
  /// How it was found.
  public var state: State
}

/// The formats, rates, channel counts and sizes that one direction of a device supports, each on
/// its own: not every combination holds.
public struct StreamAbilities: Sendable, Equatable {
  /// ALSA's names of the sample formats.
  public var formats: [String]
  /// Frames a second, lowest and highest.
  public var sampleRates: ClosedRange<Int>
  /// Samples in a frame, fewest and most.
  public var channelCounts: ClosedRange<Int>
  /// Frames from one interrupt to the next.
  public var periodFrames: ClosedRange<Int>
  /// Frames of the device's buffer.
  public var bufferFrames: ClosedRange<Int>
}

/// A PCM that ALSA's configuration defines: a plugin, or a name for hardware.
public struct NamedPCM: Sendable, Equatable {
  /// The ALSA name that opens it.
  public var name: String
  /// What the configuration says about it, in lines.
  public var comment: String
  /// Whether it can be an input.
  public var canCapture: Bool
  /// Whether it can be an output.
  public var canPlay: Bool
}

/// The program that has a device open.
public struct BusyHolder: Sendable, Equatable, CustomStringConvertible {
  /// Its name, cut by the kernel after 15 bytes.
  public var name: String
  /// Its process number.
  public var process: Int

  /// For sentences: `pipewire (process 812)`.
  public var description: String { "\(name) (process \(process))" }
}

/// The devices of this machine as they are at one moment.
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
  /// Those of the configuration that a user or a sound server has defined: they need no arguments.
  public var defined: [DeviceCandidate] = []
  /// The number of the card that is the default, where the configuration defines no other.
  public var defaultCard: Int?

  /// Looks at everything there is. Opens each free device for a moment, so this is not for a time
  /// when audio runs or is about to.
  public static func current() -> DeviceList {
    ALSALibrary.prepare()
    let numbers = (0..<mostCards).filter(isThere)
    return DeviceList(
      cards: numbers.map(card), named: PCMHints().named, defined: DeviceNames.defined(),
      defaultCard: DeviceNames.defaultCard().flatMap { card in
        numbers.contains { Int($0) == card } ? card : nil
      })
  }

  /// The kernel's own limit.
  private static let mostCards: Int32 = 32

  /// Asked of the kernel's list too: ALSA passes over a card that this user may not open, and then
  /// it would not be known why it is missing.
  private static func isThere(_ number: Int32) -> Bool {
    snd_card_load(number) == 1 || procID(number) != nil
  }

  private static func card(_ number: Int32) -> CardDescription {
    do throws(DeviceFailure) {
      var description = try CardControl(card: number).description
      description.controls = CardMixers.controls(ofCard: Int(number))
      return description
    } catch {
      let id = procID(number) ?? "\(number)"
      return CardDescription(number: Int(number), id: id, name: id, devices: [], failure: error)
    }
  }

  private static func procID(_ number: Int32) -> String? {
    ProcFile.line("/proc/asound/card\(number)/id")
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

/// The kernel's list of the cards, which changes when one is plugged in or unplugged.
/// Any thread but the audio thread.
public enum CardList {
  /// The list as text; empty where the kernel has no sound.
  public static var text: String { ProcFile.text("/proc/asound/cards") ?? "" }
}
