import AudioFiles

/// Sound cards that are USB devices: the devices on their hub and bus, their speed, their power saving.
struct USBChecks {
  private let cards: [SoundCard]
  private let devices: [USBDevice]

  init(_ machine: Machine) {
    cards = SoundCard.all(machine.files)
    devices = USBDevice.all(machine.files)
  }

  var findings: [Finding] {
    cards.flatMap { card -> [Finding] in
      guard let device = devices.first(where: { $0.port == card.port }) else { return [] }
      return [sharing(card, device), speed(card, device), sleep(card, device)].compactMap { $0 }
    }
  }

  private func sharing(_ card: SoundCard, _ device: USBDevice) -> Finding? {
    let others = devices.filter { $0.port != device.port && !$0.isHub }
    if let hub = device.hub {
      let beside = others.filter { $0.port.hasPrefix(hub + ".") }
      guard beside.isEmpty else {
        return Finding(
          .warning, "sharedHub",
          "\(card.name) shares a USB hub with \(Self.list(beside)), and waits for them.",
          remedy: "Plug it into a port of the computer itself.")
      }
    }
    let beside = others.filter { $0.bus == device.bus && $0.isBusy }
    guard beside.isEmpty else {
      return Finding(
        .notice, "sharedBus",
        "\(card.name) shares the USB bus \(device.bus) with \(Self.list(beside)).",
        remedy: "If there are dropouts, plug one of them into a port of another controller.")
    }
    return Finding(.fine, "usb", "\(card.name) shares its USB port with nothing that is busy.")
  }

  private func speed(_ card: SoundCard, _ device: USBDevice) -> Finding? {
    guard device.speed == "12" else { return nil }
    return Finding(
      .notice, "fullSpeed", "\(card.name) is a USB 1 device, which moves sound once a millisecond.",
      remedy: "Expect one to two milliseconds more than of a USB 2 interface.")
  }

  private func sleep(_ card: SoundCard, _ device: USBDevice) -> Finding? {
    guard device.sleeps else { return nil }
    return Finding(
      .notice, "usbSleeps", "\(card.name) is switched off while no program uses it.",
      remedy: "If its start is late or clicks: echo on | sudo tee "
        + "/sys/bus/usb/devices/\(device.port)/power/control")
  }

  private static func list(_ devices: [USBDevice]) -> String {
    let names = devices.prefix(3).map(\.name).joined(separator: ", ")
    return devices.count > 3 ? "\(names) and \(devices.count - 3) more" : names
  }
}
