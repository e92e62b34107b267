import AudioFiles

/// A sound card as the kernel lists it.
struct SoundCard {
  let number: Int
  let id: String
  /// Its name for people.
  let name: String
  /// Its port, where it is a USB device: `1-2.3` is the third port of the hub at the second of bus
  /// 1.
  let port: String?

  /// The cards that are there, by number.
  static func all(_ files: SystemFiles) -> [SoundCard] {
    (files.text("/proc/asound/cards") ?? "").split(separator: "\n").compactMap {
      SoundCard(line: $0, files)
    }
  }

  /// Of a line as ` 1 [USB            ]: USB-Audio - Scarlett 2i2 USB`. What is not one is the
  /// second line of a card.
  private init?(line: Substring, _ files: SystemFiles) {
    guard let opening = line.firstIndex(of: "["), let closing = line.firstIndex(of: "]"),
      opening < closing, let number = Int(line[..<opening].filter { $0 != " " })
    else { return nil }
    self.number = number
    id = String(line[line.index(after: opening)..<closing].prefix { $0 != " " })
    let rest = line[line.index(after: closing)...]
    name = rest.firstRange(of: " - ").map { String(rest[$0.upperBound...]) } ?? id
    let folder = files.resolved("/sys/class/sound/card\(number)/device") ?? ""
    port =
      folder.split(separator: "/").last { $0.contains(":") && $0.contains("-") }
      .flatMap { $0.split(separator: ":").first }.map(String.init)
      .flatMap { folder.contains("/usb") ? $0 : nil }
  }
}

/// A USB device that is plugged in.
struct USBDevice {
  /// Its port: `1-2.3` is the third port of the hub at the second port of bus 1.
  let port: String
  /// Its name for people.
  let name: String
  /// What its interfaces are for, by the numbers of the USB standard: `01` is audio.
  let interfaceClasses: [String]
  /// Whether it is a hub.
  let isHub: Bool
  /// Megabits a second.
  let speed: String
  /// Whether it is switched off while no program uses it.
  let sleeps: Bool

  private static let folder = "/sys/bus/usb/devices"

  /// All that are plugged in, hubs of the controllers left out.
  static func all(_ files: SystemFiles) -> [USBDevice] {
    let names = files.names(in: folder)
    return names.filter { $0.contains("-") && !$0.contains(":") }.map { port in
      let own = "\(folder)/\(port)"
      return USBDevice(
        port: port, name: files.line("\(own)/product") ?? "USB device \(port)",
        interfaceClasses: names.filter { $0.hasPrefix("\(port):") }.compactMap {
          files.line("\(folder)/\($0)/bInterfaceClass")
        },
        isHub: files.line("\(own)/bDeviceClass") == "09",
        speed: files.line("\(own)/speed") ?? "",
        sleeps: files.line("\(own)/power/control") == "auto")
    }
  }

  /// The bus it is on.
  var bus: Substring { port.prefix { $0 != "-" } }

  /// The port of the hub it is plugged into; nil where that is the computer itself.
  var hub: String? { port.lastIndex(of: ".").map { String(port[..<$0]) } }

  /// Whether it moves much data at times: sound, mass storage, video.
  var isBusy: Bool { interfaceClasses.contains { ["01", "08", "0e"].contains($0) } }
}
