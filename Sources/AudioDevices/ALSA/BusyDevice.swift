import Glibc

/// The search for the program that has a device open. Any thread but the audio thread.
package enum BusyDevice {
  /// Returns the program that holds the device of an ALSA name, in either direction. If the name
  /// names no card, returns the first program that holds any device. Returns nil if it is not
  /// known.
  package static func holder(of device: String) -> BusyHolder? {
    holder(of: device, nil)
  }

  static func holder(of device: String, _ direction: PCMDirection?) -> BusyHolder? {
    for path in ProcFile.paths(matching: statusPattern(of: device, direction)) {
      guard let status = ProcFile.text(path), let thread = ownerThread(in: status) else { continue }
      return holder(thread: thread)
    }
    return nil
  }

  /// Returns the thread that opened a substream, from the text of its `status` file.
  static func ownerThread(in status: String) -> Int? {
    ProcFile.value(of: "owner_pid", in: status).flatMap { Int($0) }
  }

  /// Returns a shell pattern for the kernel's status files of the substreams of an ALSA name.
  static func statusPattern(of device: String, _ direction: PCMDirection?) -> String {
    let address = HardwareAddress(device)
    let card = address.card.map { Int($0) == nil ? $0 : "card\($0)" } ?? "card*"
    let letter =
      switch direction {
      case .capture: "c"
      case .playback: "p"
      case nil: "[cp]"
      }
    return "/proc/asound/\(card)/pcm\(address.device ?? "*")\(letter)"
      + "/sub\(address.subdevice ?? "*")/status"
  }

  /// Returns the program to which a thread belongs. The kernel reports the thread, and users know
  /// the program.
  private static func holder(thread: Int) -> BusyHolder? {
    guard let status = ProcFile.text("/proc/\(thread)/status") else { return nil }
    let process = ProcFile.value(of: "Tgid", in: status).flatMap { Int($0) } ?? thread
    return ProcFile.line("/proc/\(process)/comm").map { BusyHolder(name: $0, process: process) }
  }
}

/// The hardware to which an ALSA name refers: `hw:1,0`, `plughw:CARD=USB,DEV=0`, `front:USB`.
struct HardwareAddress {
  private(set) var card: String?
  private(set) var device: String?
  private(set) var subdevice: String?

  init(_ name: String) {
    for (place, argument) in Self.arguments(of: name).enumerated() {
      let parts = argument.split(separator: "=", maxSplits: 1)
      guard let value = parts.last, Self.isPlain(value) else { continue }
      switch parts.count == 2 ? String(parts[0]) : Self.keys[min(place, Self.keys.count - 1)] {
      case "CARD": card = String(value)
      case "DEV": device = String(value)
      case "SUBDEV": subdevice = String(value)
      default: break
      }
    }
  }

  /// Returns the name of the same device on the card with this number.
  static func name(_ name: String, onCard card: Int) -> String {
    guard let colon = name.firstIndex(of: ":") else { return name }
    let renamed = arguments(of: name).enumerated().map { place, argument -> String in
      if argument.hasPrefix("CARD=") { return "CARD=\(card)" }
      return place == 0 && !argument.contains("=") ? "\(card)" : String(argument)
    }
    return name[...colon] + renamed.joined(separator: ",")
  }

  /// Returns the arguments after the first colon.
  private static func arguments(of name: String) -> [Substring] {
    name.drop { $0 != ":" }.dropFirst().split(separator: ",", omittingEmptySubsequences: false)
  }

  private static let keys = ["CARD", "DEV", "SUBDEV", ""]

  /// Returns whether `value` may be used in a path and a pattern. All other values are specific to
  /// a plugin.
  private static func isPlain(_ value: Substring) -> Bool {
    value.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
        UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"), UInt8(ascii: "-"):
        true
      default: false
      }
    }
  }
}

/// The short texts in which the kernel reports its state.
enum ProcFile {
  /// Returns the first 4 KiB of the file as text; nil if it cannot be read.
  static func text(_ path: String) -> String? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = read(descriptor, &bytes, bytes.count)
    guard count >= 0 else { return nil }
    return String(decoding: bytes.prefix(count), as: UTF8.self)
  }

  /// Returns the first line of the file; nil if it is empty or cannot be read.
  static func line(_ path: String) -> String? {
    guard let line = text(path)?.prefix(while: { !$0.isNewline }), !line.isEmpty else { return nil }
    return String(line)
  }

  /// Returns the paths that match a shell pattern, in order.
  static func paths(matching pattern: String) -> [String] {
    var found = glob_t()
    defer { globfree(&found) }
    guard glob(pattern, 0, nil, &found) == 0 else { return [] }
    return (0..<Int(found.gl_pathc)).compactMap { index in
      found.gl_pathv[index].map { String(cString: $0) }
    }
  }

  /// Returns the text after `key` and a colon at the start of a line; nil if there is none.
  static func value(of key: String, in text: String) -> String? {
    for line in text.split(separator: "\n") {
      guard let colon = line.firstIndex(of: ":"), trimmed(line[..<colon]) == key else { continue }
      return trimmed(line[line.index(after: colon)...])
    }
    return nil
  }

  private static func trimmed(_ text: Substring) -> String {
    var text = text.drop(while: \.isWhitespace)
    while text.last?.isWhitespace == true { text.removeLast() }
    return String(text)
  }
}

/// The identities of devices, which do not depend on a card's number. Data about devices is stored
/// by these identities. Any thread but the audio thread.
package enum DeviceIdentity {
  /// Returns the identity for an ALSA name: the card's name within ALSA, for USB also the numbers
  /// of vendor and product and the serial number, and the device on the card. A name that refers to
  /// no card is its own identity.
  package static func of(_ name: String) -> String {
    let address = HardwareAddress(name)
    guard let card = address.card, let folder = folder(of: card) else { return name }
    let number = folder.drop { !$0.isNumber }
    var parts = ["CARD=" + (ProcFile.line("/proc/asound/\(folder)/id") ?? card)]
    if let usb = ProcFile.line("/proc/asound/\(folder)/usbid") { parts.append("USB=" + usb) }
    if let serial = ProcFile.line("/sys/class/sound/card\(number)/device/../serial") {
      parts.append("SERIAL=" + serial)
    }
    parts.append("DEV=" + (address.device ?? "0"))
    // A plugin before the card may have a separate buffer.
    return String(name.prefix { $0 != ":" }) + ":" + parts.joined(separator: ",")
  }

  /// Returns whether an ALSA name refers to a card that is present: such a device can be
  /// distinguished from all others when it comes back.
  package static func isKnown(_ name: String) -> Bool {
    HardwareAddress(name).card.flatMap(folder) != nil
  }

  /// Returns the name within ALSA of the card that `name` refers to; nil if it refers to no card
  /// that is present.
  static func card(behind name: String) -> String? {
    guard let card = HardwareAddress(name).card, let folder = folder(of: card) else { return nil }
    return ProcFile.line("/proc/asound/\(folder)/id") ?? card
  }

  /// Returns the number of the card that `name` refers to; nil if it refers to no card, or refers
  /// by name to a card that is not present.
  static func cardNumber(behind name: String) -> Int? {
    guard let card = HardwareAddress(name).card else { return nil }
    return Int(card) ?? folder(of: card).flatMap { Int($0.drop { !$0.isNumber }) }
  }

  /// The numbers of the cards that are present.
  static var cards: [Int] {
    ProcFile.paths(matching: "/proc/asound/card[0-9]*").compactMap {
      Int($0.dropFirst("/proc/asound/card".count))
    }
  }

  /// Returns the card's folder in /proc/asound, for a card named by number or by name; nil if the
  /// card is not present.
  private static func folder(of card: String) -> String? {
    if Int(card) != nil {
      return ProcFile.line("/proc/asound/card\(card)/id").map { _ in "card\(card)" }
    }
    return ProcFile.paths(matching: "/proc/asound/card[0-9]*").lazy
      .map { String($0.dropFirst("/proc/asound/".count)) }
      .first { ProcFile.line("/proc/asound/\($0)/id") == card }
  }
}

/// The devices of a request with their identities, by which they are found again if they come back
/// under another card number.
struct DeviceLocations {
  /// One PCM by its name, and the identity of that name.
  private struct Place {
    let name: String
    let identity: String
    /// The card to which the name refers, by number or by name; nil if it refers to none.
    let card: String?

    init(_ name: String) {
      self.name = name
      identity = DeviceIdentity.of(name)
      card = DeviceIdentity.isKnown(name) ? HardwareAddress(name).card : nil
    }

    /// Returns the name that opens the PCM now and its card; nil if the PCM is not present.
    func current() -> (name: String, card: Int?)? {
      // A PCM without a card can only be found by its name.
      guard let card else { return (name, nil) }
      for number in DeviceIdentity.cards {
        let numbered = HardwareAddress.name(name, onCard: number)
        guard DeviceIdentity.of(numbered) == identity else { continue }
        return (Int(card) == nil ? name : numbered, number)
      }
      return nil
    }
  }

  private let capture: Place?
  private let playback: Place?

  /// Stores the identities of the devices while they are present.
  init(_ request: DuplexRequest) {
    capture = request.captureDevice.map(Place.init)
    playback = request.playbackDevice.map(Place.init)
  }

  /// Returns `request` with the names that open the same devices now, and their cards; nil while
  /// one of them is not present.
  func locate(_ request: DuplexRequest) -> (request: DuplexRequest, cards: [Int])? {
    var request = request
    var cards: [Int] = []
    for case (let place?, let name) in [
      (capture, \DuplexRequest.captureDevice), (playback, \.playbackDevice),
    ] {
      guard let found = place.current() else { return nil }
      request[keyPath: name] = found.name
      if let card = found.card, !cards.contains(card) { cards.append(card) }
    }
    return (request, cards)
  }
}
