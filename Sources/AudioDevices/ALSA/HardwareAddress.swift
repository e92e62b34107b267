/// The hardware to which an ALSA name refers: `hw:1,0`, `plughw:CARD=USB,DEV=0`, `front:USB`.
struct HardwareAddress {
  private(set) var card: String?
  private(set) var device: String?
  private(set) var subdevice: String?
  /// Whether `card` is a card even if none is listed under that name: the first argument of another
  /// PCM, such as `pulse:server`, may be something else.
  private(set) var isCardCertain = false

  init(_ name: String) {
    for (place, argument) in Self.arguments(of: name).enumerated() {
      let parts = argument.split(separator: "=", maxSplits: 1)
      guard let value = parts.last, Self.isPlain(value) else { continue }
      switch parts.count == 2 ? String(parts[0]) : Self.keys[min(place, Self.keys.count - 1)] {
      case "CARD":
        card = String(value)
        isCardCertain =
          parts.count == 2 || Int(value) != nil
          || ["hw", "plughw", "sysdefault", "default"].contains(name.prefix { $0 != ":" })
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
