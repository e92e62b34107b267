import ArgumentParser
import AudioBasics
import AudioDevices
import ProgramRuntime
import RealtimeAudio

/// The command `duplex devices`.
struct DevicesCommand: ToolCommand {
  static let configuration = CommandConfiguration(
    commandName: "devices", abstract: "List the devices and what each can do.")

  @Flag(help: "Print JSON events, one per line, and nothing else on standard output.")
  var json = false

  @Flag(
    name: [.customShort("v"), .long],
    help: "Show the channels, rates, formats, buffers and mixer of each device.")
  var verbose = false

  @Flag(help: "Report devices that are plugged in or unplugged, until Ctrl-C or q.")
  var watch = false

  var outputMode: OutputMode { OutputMode(json: json) }

  func perform() throws -> ExitStatus {
    if let failure = ALSAConfiguration.failure { throw failure }
    if watch {
      DeviceWatch(json: json).run()
      return .done
    }
    let list = DeviceList.current()
    if json {
      Terminal.emit(.devices(list))
    } else {
      Terminal.printLines(verbose ? DeviceTable(list).lines : DeviceOverview(list).lines)
    }
    return .done
  }
}

/// The devices with their details, as lines of text (`--verbose`).
struct DeviceTable {
  let lines: [String]

  init(_ list: DeviceList) {
    var lines: [String] = []
    if list.cards.isEmpty, list.defined.isEmpty { lines.append(DeviceOverview.noDevice) }
    for card in list.cards {
      lines.append("Card \(card.number) \(card.id): \(card.name)")
      if let failure = card.failure { lines.append("  \(failure.message)") }
      for device in card.devices {
        lines.append("  \(device.name)  \(device.title)")
        if let stream = device.capture { lines += Self.lines("input", stream) }
        if let stream = device.playback { lines += Self.lines("output", stream) }
      }
      lines += card.controls.map { "  mixer: \($0.sentence)" }
    }
    if !list.defined.isEmpty { lines.append("Devices of ALSA's configuration:") }
    for device in list.defined { lines.append("  \(device.name)  \(device.title)") }
    if !list.named.isEmpty { lines.append("Named PCMs:") }
    let width = list.named.map(\.name.count).max() ?? 0
    for pcm in list.named {
      let ways = [pcm.canCapture ? "in" : nil, pcm.canPlay ? "out" : nil].compactMap { $0 }
      let comment = pcm.comment.split(separator: "\n").joined(separator: ", ")
      lines.append(
        "  " + pcm.name.padded(to: width) + "  " + ways.joined(separator: "+").padded(to: 6) + "  "
          + comment)
    }
    self.lines = lines
  }

  private static func lines(_ way: String, _ stream: StreamDescription) -> [String] {
    let head = "    " + way.padded(to: 6) + "  "
    switch stream.state {
    case .busy(let holder):
      return [head + "in use" + (holder.map { " by \($0)" } ?? "")]
    case .failed(let failure):
      return [head + failure.message]
    case .free(let abilities):
      return [
        head + "\(shown(abilities.channelCounts)) channels, \(shown(abilities.sampleRates)) Hz, "
          + abilities.formats.joined(separator: " "),
        "            period \(shown(abilities.periodFrames)), buffer "
          + "\(shown(abilities.bufferFrames)) frames",
      ]
    }
  }

  private static func shown(_ range: ClosedRange<Int>) -> String {
    range.lowerBound == range.upperBound
      ? "\(range.lowerBound)" : "\(range.lowerBound)-\(range.upperBound)"
  }
}

extension MixerControl {
  /// The settings of the control: "Capture (input) at 80 %, -6 dB, switched off".
  var sentence: String {
    var settings: [String] = []
    if let volume { settings.append("at \(Int(rounding: 100 * volume)) %") }
    if let decibels { settings.append("\(decibels.shown(1)) dB") }
    if isOn == false { settings.append("switched off") }
    let what = "\(name) (\(isCapture ? "input" : "output"))"
    return settings.isEmpty ? "\(what) is on" : "\(what) \(settings.joined(separator: ", "))"
  }
}

extension Event {
  /// Returns the summary with the list of devices. It is the only event of the command without
  /// `--watch`.
  static func devices(_ list: DeviceList) -> Event {
    .summary([
      "command": "devices", "cards": list.cards.map(\.fields), "defaultCard": list.cardOfDefault,
      "defined": list.defined.map {
        ["name": $0.name, "title": $0.title, "default": $0.name == "default"] as Fields
      },
      "pcms": list.named.map {
        [
          "name": $0.name, "comment": $0.comment, "capture": $0.canCapture,
          "playback": $0.canPlay,
        ] as Fields
      },
    ])
  }
}

extension CardDescription {
  fileprivate var fields: Fields {
    [
      "number": number, "id": id, "name": name, "message": failure?.message,
      "devices": devices.map {
        [
          "name": $0.name, "title": $0.title, "capture": $0.capture?.fields,
          "playback": $0.playback?.fields,
        ] as Fields
      },
      "mixer": controls.map(\.fields),
    ]
  }
}

extension MixerControl {
  fileprivate var fields: Fields {
    [
      "name": name, "direction": isCapture ? "capture" : "playback",
      "percent": volume.map { (100 * $0).digits(1) }, "volumeDB": decibels?.digits(2), "on": isOn,
    ]
  }
}

extension StreamDescription {
  fileprivate var fields: Fields {
    func range(_ range: ClosedRange<Int>) -> Fields {
      ["minimum": range.lowerBound, "maximum": range.upperBound]
    }
    let head: Fields = ["subdevices": subdeviceCount]
    switch state {
    case .busy(let holder):
      return head + ["busy": true, "holder": holder?.name, "holderProcess": holder?.process]
    case .failed(let failure): return head + ["busy": false, "message": failure.message]
    case .free(let abilities):
      return head + [
        "busy": false, "formats": abilities.formats, "sampleRates": range(abilities.sampleRates),
        "channels": range(abilities.channelCounts),
        "periodFrames": range(abilities.periodFrames),
        "bufferFrames": range(abilities.bufferFrames),
      ]
    }
  }
}

/// The devices as a short table: a line for each, which begins with the name to type.
struct DeviceOverview {
  let lines: [String]

  /// The message if there is no device.
  static let noDevice =
    "No sound card. Without a card, use the simulated device: --device sim."

  init(_ list: DeviceList) {
    var rows = [["NAME", "DEVICE", "INPUTS", "OUTPUTS", ""]]
    for device in list.defined {
      rows.append([
        device.name, device.title, "", "", device.name == "default" ? "the default" : "",
      ])
    }
    var failures: [String] = []
    for card in list.cards {
      if let failure = card.failure { failures.append(failure.message) }
      for device in card.devices {
        let isDefault =
          card.number == list.cardOfDefault && device == card.devices.first
        rows.append(Self.row(card, device, isDefault: isDefault))
      }
    }
    guard rows.count > 1 else {
      lines = failures + (list.cards.isEmpty ? [Self.noDevice] : [])
      return
    }
    let widths = (0..<4).map { column in rows.map { $0[column].count }.max() ?? 0 }
    let shown = rows.map { row in
      let cells = row.enumerated().map { column, cell in
        column < 4 ? cell.padded(to: widths[column]) : cell
      }
      var line = cells.joined(separator: "  ")
      while line.last == " " { line.removeLast() }
      return line
    }
    let hasDevice = !list.cards.isEmpty || list.defined.contains { $0.name == "default" }
    let isDefined = !list.defined.isEmpty
    lines =
      (hasDevice ? [] : [Self.noDevice]) + shown + failures
      + (isDefined
        ? [
          "Devices without numbers are defined by ALSA's configuration; they have the channels of the"
            + " device behind them."
        ] : [])
      + ["A part of a name is enough if only one device matches; -v shows more about each."]
  }

  private static func row(_ card: CardDescription, _ device: DeviceDescription, isDefault: Bool)
    -> [String]
  {
    let title = [card.name, device.title].filter { !$0.isEmpty }.joined(separator: ", ")
    var remarks = isDefault ? ["the default"] : []
    for (noun, stream) in [("input", device.capture), ("output", device.playback)] {
      switch stream?.state {
      case .busy(let holder):
        remarks.append("\(noun) in use" + (holder.map { " by \($0)" } ?? ""))
      case .failed(let failure): remarks.append(failure.message)
      case .free, nil: break
      }
    }
    return [
      device.name, title, count(device.capture), count(device.playback),
      remarks.joined(separator: "; "),
    ]
  }

  private static func count(_ stream: StreamDescription?) -> String {
    guard let stream else { return "-" }
    guard case .free(let abilities) = stream.state else { return "?" }
    return "\(abilities.channelCounts.upperBound)"
  }
}

extension DeviceList {
  /// The number of the default card; nil if ALSA's configuration defines a device named `default`.
  var cardOfDefault: Int? {
    defined.contains { $0.name == "default" } ? nil : defaultCard
  }
}

/// The command `duplex devices --watch`: prints the list, then each device that is added or
/// removed.
struct DeviceWatch: ~Copyable {
  private let json: Bool
  private let signals = SignalWatch()
  private let keyboard = Keyboard()

  /// The interval at which the kernel's list of cards is read.
  private static let intervalMilliseconds: Int32 = 250

  init(json: Bool) { self.json = json }

  /// Runs until the user ends it.
  func run() {
    var cards = CardList.text
    var list = DeviceList.current()
    begin(list)
    while !isEnded() {
      let now = CardList.text
      guard now != cards else { continue }
      // The device files of a new card, and their owners, are created a little after the card.
      guard !isEnded() else { break }
      cards = now
      let found = DeviceList.current()
      reportChanges(from: list, to: found)
      list = found
    }
    if json { Terminal.emit(.devices(list)) }
  }

  /// Waits for one interval. Returns true if a signal or a key ended the command.
  private func isEnded() -> Bool {
    switch signals.wait(milliseconds: Self.intervalMilliseconds, watching: keyboard.awaited) {
    case .signal(.end): return true
    case .readable:
      return keyboard.press().ends
    case .signal, .timeout: return false
    }
  }

  private func begin(_ list: DeviceList) {
    if json {
      for device in list.devices { emit(device, "present") }
    } else {
      Terminal.printLines(DeviceOverview(list).lines)
    }
  }

  private func reportChanges(from before: DeviceList, to after: DeviceList) {
    let (old, new) = (before.devices, after.devices)
    for device in old where !new.contains(where: { $0.name == device.name }) {
      emit(device, "removed")
    }
    for device in new where !old.contains(where: { $0.name == device.name }) {
      emit(device, "added")
    }
  }

  private func emit(_ device: DeviceCandidate, _ state: String) {
    if json {
      let fields: Fields = [
        "state": state, "name": device.name, "title": device.fullTitle,
        "capture": device.canCapture,
        "playback": device.canPlay,
      ]
      Terminal.emit(Event("listedDevice", fields))
    } else {
      Terminal.printLine("\(state): \(device.name)  \(device.fullTitle)")
    }
  }
}
