/// Finds out who has a device open.
public enum BusyDevice {
  /// The program that holds the device an ALSA name stands for, in either direction; where the name
  /// names no card, the first program that holds any. Nil where that cannot be known.
  public static func holder(of device: String) -> BusyHolder? {
    holder(of: device, nil)
  }

  static func holder(of device: String, _ direction: PCMDirection?) -> BusyHolder? {
    for path in ProcFile.paths(matching: statusPattern(of: device, direction)) {
      guard let status = ProcFile.text(path), let thread = ownerThread(in: status) else { continue }
      return holder(thread: thread)
    }
    return nil
  }

  /// The thread that opened a substream, by the text of its `status` file.
  static func ownerThread(in status: String) -> Int? {
    ProcFile.value(of: "owner_pid", in: status).flatMap { Int($0) }
  }

  /// Where the kernel tells about the substreams of an ALSA name, as a shell pattern.
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

  /// The kernel names the thread; people know the program it belongs to.
  private static func holder(thread: Int) -> BusyHolder? {
    guard let status = ProcFile.text("/proc/\(thread)/status") else { return nil }
    let process = ProcFile.value(of: "Tgid", in: status).flatMap { Int($0) } ?? thread
    guard let name = ProcFile.text("/proc/\(process)/comm") else { return nil }
    return BusyHolder(name: String(name.prefix { !$0.isNewline }), process: process)
  }
}

/// The hardware that an ALSA name speaks of: `hw:1,0`, `plughw:CARD=USB,DEV=0`, `front:USB`.
private struct HardwareAddress {
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
