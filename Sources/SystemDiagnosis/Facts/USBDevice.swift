import AudioFiles

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
