import AudioDevices
import AudioFiles
import DelayEstimation
import LatencyMeasurement

/// Measures in a recording made elsewhere of a signal that is known: the same estimator, the same
/// events.
///
/// Of the reference the first minute is looked for; in the recording it is looked for everywhere, a
/// minute at a time.
struct OfflineLatency {
  private let command: LatencyCommand
  private let listen: String
  private let reference: String
  private static let stretchSeconds = 60

  init(_ command: LatencyCommand, listen: String, reference: String) {
    self.command = command
    self.listen = listen
    self.reference = reference
  }

  func run() throws -> ExitStatus {
    var played = try ChannelReader(reference)
    let heard = try ChannelReader(listen)
    let rate = heard.sampleRate
    guard played.sampleRate == rate else {
      throw ToolFailure(
        .unusableInput, code: "inputUnusable",
        "\(listen) has \(rate) Hz and \(reference) \(played.sampleRate) Hz.",
        hint: "Convert one of them first, with sox -r.")
    }
    let from = try LatencyCommand.channel(
      command.fromChannel, of: played.samples.count, reference, hint: "Count them from 1.")
    let to = try LatencyCommand.channel(
      command.toChannel, of: heard.samples.count, listen, hint: "Count them from 1.")
    try played.fill(to: Self.stretchSeconds * rate)
    let references = played.samples
    // A reference of several equal channels is one signal.
    let froms = from.map { [$0] } ?? Self.distinct(references)
    let tos = to.map { [$0] } ?? Array(heard.samples.indices)
    var trips = RoundTrips()
    var totals = SessionTotals()
    for from in froms {
      for to in tos {
        let recording = try ChannelReader(listen)
        let (found, frames) = try search(references[from], in: recording, channel: to)
        if let found { trips.add(found, from: from, to: to) }
        totals.readFrames(frames)
      }
    }
    return try LatencyResult(trips, configuration(rate), totals).conclude(command)
  }

  /// The strongest match in the whole recording, and the recording's length.
  private func search(
    _ reference: [Float], in recording: consuming ChannelReader, channel: Int
  ) throws -> (DelayEstimate?, Int) {
    var estimator = DelayEstimator()
    estimator.choice = command.choice
    estimator.draws = command.picture.report != nil
    let stretch = Self.stretchSeconds * recording.sampleRate
    var best: DelayEstimate?
    var start = 0
    while true {
      try recording.fill(to: stretch + reference.count)
      let samples = recording.samples[channel]
      let earliest = start == 0 ? 1 - max(1, reference.count) : 0
      if let found = estimator.estimate(
        reference: reference.span, in: samples.span, lags: earliest..<max(1, stretch)),
        abs(found.gain) > abs(best?.gain ?? 0)
      {
        best = found.moved(by: start)
      }
      guard samples.count > stretch else { return (best, start + samples.count) }
      recording.drop(stretch)
      start += stretch
    }
  }

  /// The channels of which no earlier one has the same sound.
  private static func distinct(_ channels: [[Float]]) -> [Int] {
    channels.indices.filter { index in !channels[..<index].contains(channels[index]) }
  }

  /// No device: nothing of the delay is the unit's own.
  private func configuration(_ rate: Int) -> DuplexConfiguration {
    func stream(_ path: String) -> StreamConfiguration {
      StreamConfiguration(
        device: path, sampleRate: rate, channelCount: 1, format: .floatLE, periodFrames: 0,
        bufferFrames: 0)
    }
    return DuplexConfiguration(
      sampleRate: rate, periodFrames: 0, headroomFrames: 0, capture: stream(listen),
      playback: stream(reference))
  }
}
