/// The hardware that an ALSA name speaks of: `hw:1,0`, `plughw:CARD=USB,DEV=0`, `front:USB`.
struct HardwareAddress {
  private(set) var card: String?
  private(set) var device: String?
  private(set) var subdevice: String?

  init(_ name: String) {
    guard let colon = name.firstIndex(of: ":") else { return }
    let arguments = name[name.index(after: colon)...].split(
      separator: ",", omittingEmptySubsequences: false)
    for (place, argument) in arguments.enumerated() {
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

  /// `name` as it stands for the same device on the card with this number.
  static func name(_ name: String, onCard card: Int) -> String {
    guard let colon = name.firstIndex(of: ":") else { return name }
    let arguments = name[name.index(after: colon)...].split(
      separator: ",", omittingEmptySubsequences: false)
    let renamed = arguments.enumerated().map { place, argument -> String in
      if argument.hasPrefix("CARD=") { return "CARD=\(card)" }
      return place == 0 && !argument.contains("=") ? "\(card)" : String(argument)
    }
    return name[...colon] + renamed.joined(separator: ",")
  }

  private static let keys = ["CARD", "DEV", "SUBDEV", ""]

  /// What may stand in a path and a pattern. Everything else is a plugin's own affair.
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
