/// What a device is, whatever number it has today: for what is remembered about it.
public enum DeviceIdentity {
  /// The identity behind an ALSA name: the card's own name within ALSA, for USB the maker's and the
  /// product's number and the serial number as well, and the device on the card. A name that speaks
  /// of no card stands for itself.
  public static func of(_ name: String) -> String {
    let address = HardwareAddress(name)
    guard let card = address.card, let folder = folder(of: card) else { return name }
    let number = folder.drop { !$0.isNumber }
    var parts = ["CARD=" + (line("/proc/asound/\(folder)/id") ?? card)]
    if let usb = line("/proc/asound/\(folder)/usbid") { parts.append("USB=" + usb) }
    if let serial = line("/sys/class/sound/card\(number)/device/../serial") {
      parts.append("SERIAL=" + serial)
    }
    parts.append("DEV=" + (address.device ?? "0"))
    // A plugin in front of the card may have a buffer of its own.
    return String(name.prefix { $0 != ":" }) + ":" + parts.joined(separator: ",")
  }

  /// Whether an ALSA name speaks of a card that is there: a device that can be told from any other
  /// when it comes back.
  public static func isKnown(_ name: String) -> Bool {
    HardwareAddress(name).card.flatMap(folder) != nil
  }

  /// The card's own name within ALSA that `name` speaks of; nil where it speaks of none that is
  /// there.
  static func card(behind name: String) -> String? {
    guard let card = HardwareAddress(name).card, let folder = folder(of: card) else { return nil }
    return line("/proc/asound/\(folder)/id") ?? card
  }

  /// The numbers of the cards that are there now.
  static var cards: [Int] {
    ProcFile.paths(matching: "/proc/asound/card[0-9]*").compactMap {
      Int($0.dropFirst("/proc/asound/card".count))
    }
  }

  /// The card's folder in /proc/asound, whether it was named by number or by name.
  private static func folder(of card: String) -> String? {
    if Int(card) != nil { return line("/proc/asound/card\(card)/id").map { _ in "card\(card)" } }
    return ProcFile.paths(matching: "/proc/asound/card[0-9]*").lazy
      .map { String($0.dropFirst("/proc/asound/".count)) }
      .first { line("/proc/asound/\($0)/id") == card }
  }

  private static func line(_ path: String) -> String? {
    guard let text = ProcFile.text(path) else { return nil }
    let line = text.prefix { !$0.isNewline }
    return line.isEmpty ? nil : String(line)
  }
}
