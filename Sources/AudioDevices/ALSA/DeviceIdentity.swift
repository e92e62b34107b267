import LinuxSystem

/// The identities of devices, which do not depend on a card's number. Data about devices is stored
/// by these identities. Any thread but the audio thread.
package enum DeviceIdentity {
  private static let files = SystemFiles.ofThisMachine

  /// Returns the identity for an ALSA name: the card's name within ALSA, for USB also the numbers
  /// of vendor and product and the serial number, and the device on the card. A name that refers to
  /// no card is its own identity.
  package static func of(_ name: String) -> String {
    let address = HardwareAddress(name)
    guard let card = address.card, let folder = folder(of: card) else { return name }
    let number = folder.drop { !$0.isNumber }
    var parts = ["CARD=" + (files.line("/proc/asound/\(folder)/id") ?? card)]
    if let usb = files.line("/proc/asound/\(folder)/usbid") { parts.append("USB=" + usb) }
    if let serial = files.line("/sys/class/sound/card\(number)/device/../serial") {
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
    return files.line("/proc/asound/\(folder)/id") ?? card
  }

  /// Returns the number of the card that `name` refers to; nil if it refers to no card, or refers
  /// by name to a card that is not present.
  static func cardNumber(behind name: String) -> Int? {
    guard let card = HardwareAddress(name).card else { return nil }
    return Int(card) ?? folder(of: card).flatMap { Int($0.drop { !$0.isNumber }) }
  }

  /// The numbers of the cards that are present.
  static var cards: [Int] {
    files.paths(matching: "/proc/asound/card[0-9]*").compactMap {
      Int($0.dropFirst("/proc/asound/card".count))
    }
  }

  /// Returns the card's folder in /proc/asound, for a card named by number or by name; nil if the
  /// card is not present.
  private static func folder(of card: String) -> String? {
    if Int(card) != nil {
      return files.line("/proc/asound/card\(card)/id").map { _ in "card\(card)" }
    }
    return files.paths(matching: "/proc/asound/card[0-9]*").lazy
      .map { String($0.dropFirst("/proc/asound/".count)) }
      .first { files.line("/proc/asound/\($0)/id") == card }
  }
}
