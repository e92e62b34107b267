import LinuxSystem

/// A sound card as listed by the kernel.
struct SoundCard {
  let number: Int
  let id: String
  /// The human-readable name.
  let name: String
  /// The port, if the card is a USB device: `1-2.3` is port 3 of the hub at port 2 of bus 1.
  let port: String?

  /// Returns all cards, sorted by number.
  static func all(_ files: SystemFiles) -> [SoundCard] {
    let listed = (files.text("/proc/asound/cards") ?? "").split(separator: "\n").compactMap {
      SoundCard(line: $0, files)
    }
    let cards = CardFiles(files)
    guard listed.isEmpty, cards.isListHidden else { return listed }
    return cards.numbers.map { number in
      let id = cards.id(of: number) ?? "\(number)"
      return SoundCard(number: number, id: id, name: cards.usbName(of: number) ?? id, files)
    }
  }

  /// Creates a card; the files give its port.
  private init(number: Int, id: String, name: String, _ files: SystemFiles) {
    self.number = number
    self.id = id
    self.name = name
    let folder = files.resolved("/sys/class/sound/card\(number)/device") ?? ""
    port =
      folder.split(separator: "/").last { $0.contains(":") && $0.contains("-") }
      .flatMap { $0.split(separator: ":").first }.map(String.init)
      .flatMap { folder.contains("/usb") ? $0 : nil }
  }

  /// Parses a line such as ` 1 [USB            ]: USB-Audio - Scarlett 2i2 USB`. Nil for other
  /// lines, such as the second line of a card.
  private init?(line: Substring, _ files: SystemFiles) {
    guard let opening = line.firstIndex(of: "["), let closing = line.firstIndex(of: "]"),
      opening < closing, let number = Int(line[..<opening].filter { $0 != " " })
    else { return nil }
    let id = String(line[line.index(after: opening)..<closing].prefix { $0 != " " })
    let rest = line[line.index(after: closing)...]
    let name = rest.firstRange(of: " - ").map { String(rest[$0.upperBound...]) } ?? id
    self.init(number: number, id: id, name: name, files)
  }
}

/// A connected USB device.
struct USBDevice {
  /// The port: `1-2.3` is port 3 of the hub at port 2 of bus 1.
  let port: String
  /// The human-readable name.
  let name: String
  /// The class codes of its interfaces in the USB standard: `01` is audio.
  let interfaceClasses: [String]
  /// Whether it is a hub.
  let isHub: Bool
  /// The speed in megabits per second.
  let speed: String
  /// Whether the device is switched off while no program uses it.
  let sleeps: Bool

  private static let folder = "/sys/bus/usb/devices"

  /// Returns all connected devices except the root hubs of the controllers.
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

  /// The number of the bus to which the device is connected.
  var bus: Substring { port.prefix { $0 != "-" } }

  /// The port of the hub to which the device is connected; nil if it is connected to the computer
  /// directly.
  var hub: String? { port.lastIndex(of: ".").map { String(port[..<$0]) } }

  /// Whether the device may transfer much data: audio, mass storage or video.
  var isBusy: Bool { interfaceClasses.contains { ["01", "08", "0e"].contains($0) } }
}
