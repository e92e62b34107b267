import ArgumentParser
import AudioBasics
import AudioDevices

/// `duplex devices`.
struct DevicesCommand: ParsableCommand, TalkingCommand {
  static let configuration = CommandConfiguration(
    commandName: "devices", abstract: "List the devices and what each can do.")

  @Flag(help: "Events as JSON, one a line, on standard output, and nothing else there.")
  var json = false

  @Flag(
    name: [.customShort("v"), .long],
    help: "Show the channels, rates, formats, buffers and mixer of each device.")
  var verbose = false

  @Flag(help: "Report devices that are plugged in or unplugged, until Ctrl-C or q.")
  var watch = false

  var outputMode: OutputMode { OutputMode(json: json) }

  func run() throws {
    if watch { return DeviceWatch(json: json).run() }
    let list = DeviceList.current()
    if json {
      Terminal.emit(.devices(list))
    } else {
      let lines = verbose ? DeviceTable(list).lines : DeviceOverview(list).lines
      for line in lines { Terminal.printLine("\(line)") }
    }
  }
}

/// The devices as a table for people.
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
        "  " + Self.padded(pcm.name, width) + "  "
          + Self.padded(ways.joined(separator: "+"), 6) + "  " + comment)
    }
    self.lines = lines
  }

  private static func lines(_ way: String, _ stream: StreamDescription) -> [String] {
    let head = "    " + padded(way, 6) + "  "
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

  private static func padded(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }
}

extension MixerControl {
  /// What it is set to: "Capture (input) at 80 %, -6 dB, switched off".
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
  /// The devices: all there is to say, and so the summary.
  static func devices(_ list: DeviceList) -> Event {
    .summary([
      ("command", .string("devices")), ("cards", .array(list.cards.map(JSON.card))),
      ("defaultCard", list.cardOfDefault.map { .integer($0) } ?? .null),
      (
        "defined",
        .array(
          list.defined.map {
            .object([
              "name": .string($0.name), "title": .string($0.title),
              "default": .bool($0.name == "default"),
            ])
          })
      ),
      (
        "pcms",
        .array(
          list.named.map {
            .object([
              "name": .string($0.name), "comment": .string($0.comment),
              "capture": .bool($0.canCapture), "playback": .bool($0.canPlay),
            ])
          })
      ),
    ])
  }
}

extension JSON {
  fileprivate static func card(_ card: CardDescription) -> JSON {
    .object([
      "number": .integer(card.number), "id": .string(card.id), "name": .string(card.name),
      "message": card.failure.map { .string($0.message) } ?? .null,
      "devices": .array(
        card.devices.map { device in
          .object([
            "name": .string(device.name), "title": .string(device.title),
            "capture": device.capture.map(stream) ?? .null,
            "playback": device.playback.map(stream) ?? .null,
          ])
        }),
      "mixer": .array(card.controls.map(control)),
    ])
  }

  private static func control(_ control: MixerControl) -> JSON {
    .object([
      "name": .string(control.name),
      "direction": .string(control.isCapture ? "capture" : "playback"),
      "percent": control.volume.map { .rounded(100 * $0, 1) } ?? .null,
      "volumeDB": control.decibels.map { .rounded($0) } ?? .null,
      "on": control.isOn.map { .bool($0) } ?? .null,
    ])
  }

  private static func stream(_ stream: StreamDescription) -> JSON {
    var fields: [(String, JSON)] = [("subdevices", .integer(stream.subdeviceCount))]
    switch stream.state {
    case .busy(let holder):
      fields.append(("busy", .bool(true)))
      fields.append(("holder", holder.map { .string($0.name) } ?? .null))
      fields.append(("holderProcess", holder.map { .integer($0.process) } ?? .null))
    case .failed(let failure):
      fields.append(("busy", .bool(false)))
      fields.append(("message", .string(failure.message)))
    case .free(let abilities):
      fields.append(("busy", .bool(false)))
      fields.append(("formats", .array(abilities.formats.map { .string($0) })))
      fields.append(("sampleRates", range(abilities.sampleRates)))
      fields.append(("channels", range(abilities.channelCounts)))
      fields.append(("periodFrames", range(abilities.periodFrames)))
      fields.append(("bufferFrames", range(abilities.bufferFrames)))
    }
    return .fields(fields)
  }

  private static func range(_ range: ClosedRange<Int>) -> JSON {
    .object(["minimum": .integer(range.lowerBound), "maximum": .integer(range.upperBound)])
  }
}
