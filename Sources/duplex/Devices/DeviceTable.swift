import AudioBasics
import AudioDevices

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
