import CALSA
import Glibc

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
  /// How it was found.
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

/// What one direction of a device can do, each figure on its own: not every combination holds.
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
    AlsaLibrary.prepare()
    return DeviceList(
      cards: (0..<mostCards).filter(isThere).map(card), named: PCMHints().named,
      defined: DeviceNames.defined(), defaultCard: DeviceNames.defaultCard())
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

/// ALSA's list of the PCMs that its configuration defines and describes, kept until out of scope.
struct PCMHints: ~Copyable {
  // Ends with nil. Nil itself where the configuration cannot be read.
  private let list: UnsafeMutablePointer<UnsafeMutableRawPointer?>?

  init() {
    var found: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
    list = snd_device_name_hint(-1, "pcm", &found) == 0 ? found : nil
  }

  deinit {
    guard let list else { return }
    snd_device_name_free_hint(list)
  }

  /// The PCMs, in the configuration's order.
  var named: [NamedPCM] {
    guard var entry = list else { return [] }
    var named: [NamedPCM] = []
    while let hint = entry.pointee {
      if let name = Self.text(hint, "NAME") {
        // No IOID means both directions.
        let direction = Self.text(hint, "IOID")
        named.append(
          NamedPCM(
            name: name, comment: Self.text(hint, "DESC") ?? "",
            canCapture: direction != "Output", canPlay: direction != "Input"))
      }
      entry += 1
    }
    return named
  }

  private static func text(_ hint: UnsafeRawPointer, _ key: String) -> String? {
    guard let text = snd_device_name_get_hint(hint, key) else { return nil }
    defer { free(text) }
    return String(cString: text)
  }
}

/// Settings of alsa-lib that hold for the whole process.
enum AlsaLibrary {
  /// Sees that they are made, before the first call to alsa-lib. Any thread.
  static func prepare() {
    _ = once
  }

  private static let once: Void = {
    // One thread drives a PCM, so the mutex around plugins would only cost time on that thread.
    setenv("LIBASOUND_THREAD_SAFE", "0", 1)
    // alsa-lib would print its own diagnosis beside ours.
    duplex_silence_alsa()
  }()
}

/// The control device of a card, which knows what the card has; open until out of scope.
struct CardControl: ~Copyable {
  private let handle: OpaquePointer
  private let number: Int32

  /// Opens the control device of the card with this number.
  init(card number: Int32) throws(DeviceFailure) {
    var opened: OpaquePointer?
    let result = snd_ctl_open(&opened, "hw:\(number)", SND_CTL_NONBLOCK)
    guard result == 0, let opened else { throw Self.failure(number, code: result) }
    handle = opened
    self.number = number
  }

  deinit {
    snd_ctl_close(handle)
  }

  /// The card with all its devices, each looked at now.
  var description: CardDescription {
    get throws(DeviceFailure) {
      let info = try CardInfo(of: handle, card: number)
      let id = info.id
      return CardDescription(
        number: Int(number), id: id, name: info.name,
        devices: devices(cardID: id).map { device in
          DeviceDescription(
            name: device.name, title: device.title,
            capture: device.capture?.stream(of: device.name),
            playback: device.playback?.stream(of: device.name))
        })
    }
  }

  /// The devices with their names; none of them is opened.
  var candidates: [DeviceCandidate] {
    get throws(DeviceFailure) {
      let info = try CardInfo(of: handle, card: number)
      return devices(cardID: info.id).map {
        DeviceCandidate(
          name: $0.name, title: $0.title, card: info.id, cardTitle: info.name,
          canCapture: $0.capture != nil, canPlay: $0.playback != nil)
      }
    }
  }

  /// What the card says of its devices, by the names that open them.
  private func devices(cardID: String) -> [(
    name: String, title: String, capture: StreamInfo?, playback: StreamInfo?
  )] {
    var found: [(name: String, title: String, capture: StreamInfo?, playback: StreamInfo?)] = []
    var device: Int32 = -1
    while snd_ctl_pcm_next_device(handle, &device) == 0, device >= 0 {
      let capture = StreamInfo(of: handle, device: device, .capture)
      let playback = StreamInfo(of: handle, device: device, .playback)
      guard let title = capture?.title ?? playback?.title else { continue }
      found.append(("hw:CARD=\(cardID),DEV=\(device)", title, capture, playback))
    }
    return found
  }

  static func failure(_ number: Int32, code: Int32) -> DeviceFailure {
    guard code != -EACCES && code != -EPERM else {
      return .denied("card \(number)")
    }
    return DeviceFailure(
      .notFound, "Card \(number) does not report its devices.",
      hint: "Plug the card in again, or read the kernel's messages with dmesg.")
  }
}

/// What a card says about itself.
private struct CardInfo {
  let id: String
  let name: String

  init(of control: OpaquePointer, card: Int32) throws(DeviceFailure) {
    let info = try ALSAMemory(snd_ctl_card_info_malloc, snd_ctl_card_info_free)
    let result = snd_ctl_card_info(control, info.pointer)
    guard result == 0 else { throw CardControl.failure(card, code: result) }
    id = String(cString: snd_ctl_card_info_get_id(info.pointer))
    name = String(cString: snd_ctl_card_info_get_name(info.pointer))
  }
}

/// What a card says about one direction of a device.
private struct StreamInfo {
  let title: String
  private let direction: PCMDirection
  private let subdeviceCount: Int

  /// Nil where the device has no such direction.
  init?(of control: OpaquePointer, device: Int32, _ direction: PCMDirection) {
    guard let memory = try? ALSAMemory(snd_pcm_info_malloc, snd_pcm_info_free) else { return nil }
    let info = memory.pointer
    snd_pcm_info_set_device(info, UInt32(device))
    snd_pcm_info_set_subdevice(info, 0)
    snd_pcm_info_set_stream(info, direction.stream)
    guard snd_ctl_pcm_info(control, info) == 0 else { return nil }
    title = String(cString: snd_pcm_info_get_name(info))
    subdeviceCount = Int(snd_pcm_info_get_subdevices_count(info))
    self.direction = direction
  }

  func stream(of name: String) -> StreamDescription {
    StreamDescription(subdeviceCount: subdeviceCount, state: state(of: name))
  }

  private func state(of name: String) -> StreamDescription.State {
    do throws(DeviceFailure) {
      return .free(try PCM(opening: name, direction).abilities())
    } catch {
      return error.kind == .busy
        ? .busy(BusyDevice.holder(of: name, direction)) : .failed(error)
    }
  }
}
