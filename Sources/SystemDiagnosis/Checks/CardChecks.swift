import LinuxSystem
import RealtimeAudio

/// The checks of sound cards: whether there are any, whether this user may open them, and which
/// programs use them.
struct CardChecks {
  private let machine: Machine
  private let files: SystemFiles
  private let cards: [SoundCard]

  init(_ machine: Machine) {
    self.machine = machine
    files = machine.files
    cards = SoundCard.all(files)
  }

  var findings: [Finding] {
    guard !cards.isEmpty else { return [noCard] }
    return [access] + hiddenList + holders
  }

  /// The notice that the kernel's list of cards is hidden, as Docker and Podman hide it.
  private var hiddenList: [Finding] {
    guard CardFiles(files).isListHidden else { return [] }
    let place = machine.isContainer ? "This container" : "This machine"
    return [
      Finding(
        .notice, "cardsHidden",
        "\(place) hides the kernel's list of sound cards in /proc/asound: which program holds a "
          + "card is not known.",
        remedy: "Sound works without it. Docker shows it with --security-opt "
          + "systempaths=unconfined, Podman with --security-opt unmask=/proc/asound.")
    ]
  }

  private var noCard: Finding {
    if let interface = unclaimedInterface {
      return Finding(
        .problem, "noDriver", "\(interface) is plugged in, but no driver uses it.",
        remedy: "Load the driver with sudo modprobe snd-usb-audio, and read dmesg.")
    }
    let place = machine.isContainer ? "This container" : "This machine"
    let servers = RunningProgram.all(named: SoundServers.names, files)
    if let server = servers.first(where: { !$0.isHalted(files) }) {
      return Finding(
        .notice, "noCard",
        "\(place) has no sound card: sound goes only where \(server.description) takes it.",
        remedy: "Look at its list of outputs: wpctl status, or pactl list sinks.")
    }
    guard !machine.isContainer else {
      return Finding(
        .problem, "noCard", "\(place) has no sound card.",
        remedy:
          "Start it with the cards of its host: docker run --device /dev/snd, or the same with podman."
      )
    }
    return Finding(
      .problem, "noCard", "\(place) has no sound card.",
      remedy: "Plug in a card. Without a card, use the simulated device: --device sim.")
  }

  /// The name of a USB device with an audio interface; nil if there is none.
  private var unclaimedInterface: String? {
    USBDevice.all(files).first { $0.interfaceClasses.contains("01") }?.name
  }

  private var access: Finding {
    let nodes = files.names(in: "/dev/snd").filter { $0.hasPrefix("pcmC") }
    guard !nodes.isEmpty else {
      return Finding(
        .problem, "noDeviceFiles",
        "The kernel knows \(cards.count.counted("sound card")), but nothing "
          + "in /dev/snd opens \(cards.count == 1 ? "it" : "them").",
        remedy: machine.isContainer
          ? "Give them to the container: --device /dev/snd in Docker and Podman."
          : "Start udev, which makes these files, or restart the machine.")
    }
    let refused = nodes.filter { !files.mayOpen("/dev/snd/\($0)") }
    guard !refused.isEmpty else {
      let names = cards.map { "\($0.name) (hw:CARD=\($0.id))" }.joined(separator: ", ")
      return Finding(.fine, "cards", "This user may open every sound card: \(names).")
    }
    return Finding(
      .problem, "cardsRefused",
      "This user may not open \(refused.count) of \(nodes.count) sound devices in /dev/snd.",
      remedy: permissionRemedy)
  }

  private var permissionRemedy: String {
    if isListedInAudio {
      return "Log out and in again: membership of the group audio takes effect at the next login."
    }
    return machine.isContainer
      ? "Start the container with --group-add audio."
      : AudioGroup.remedy
  }

  /// Whether /etc/group lists this user in the group audio, but this program is not a member of it.
  private var isListedInAudio: Bool {
    let status = "/proc/self/status"
    let lines = { (path: String) in
      (files.text(path) ?? "").split(separator: "\n").map {
        $0.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
      }
    }
    guard let user = files.value(of: "Uid", in: status)?.split(separator: "\t").first,
      let name = lines("/etc/passwd").first(where: { $0.count > 2 && $0[2] == user })?[0],
      let group = lines("/etc/group").first(where: { $0.count > 3 && $0[0] == "audio" })
    else { return false }
    let active = files.value(of: "Groups", in: status)?.split(separator: " ") ?? []
    return group[3].split(separator: ",").contains(name[...]) && !active.contains(group[2][...])
  }

  /// The programs that have a card open, with the devices that each of them holds.
  private var holders: [Finding] {
    var held: [RunningProgram: [String]] = [:]
    for card in cards {
      let folder = "/proc/asound/card\(card.number)"
      for pcm in files.names(in: folder) where pcm.hasPrefix("pcm") {
        for sub in files.names(in: "\(folder)/\(pcm)") where sub.hasPrefix("sub") {
          let status = "\(folder)/\(pcm)/\(sub)/status"
          guard let program = RunningProgram.holding(substream: status, files) else { continue }
          let direction = pcm.hasSuffix("c") ? "input" : "output"
          let device = "the \(direction) of \(card.id)"
          if held[program]?.contains(device) != true { held[program, default: []].append(device) }
        }
      }
    }
    return held.sorted { $0.key.process < $1.key.process }.map { program, devices in
      let isServer = SoundServers.names.contains(program.name)
      return Finding(
        isServer ? .notice : .warning, "cardHeld",
        "\(program.description) holds \(devices.joined(separator: " and ")).",
        remedy: isServer
          ? "Use the device default, which goes through it, or end it to open the card itself."
          : "End it if you want to use \(devices.count == 1 ? "this device" : "these devices").")
    }
  }
}

/// The checks of sound cards that are USB devices: other devices on their hub and bus, their speed
/// and their power saving.
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
          "\(card.name) shares a USB hub with \(Self.list(beside)), which may delay its sound.",
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
    return Finding(.fine, "usb", "\(card.name) shares its USB port with no busy device.")
  }

  private func speed(_ card: SoundCard, _ device: USBDevice) -> Finding? {
    guard device.speed == "12" else { return nil }
    return Finding(
      .notice, "fullSpeed",
      "\(card.name) is a full-speed (12 Mbit/s) USB device, which transfers sound once a millisecond.",
      remedy: "Expect 1 to 2 ms more latency than with a high-speed interface.")
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
