import AudioBasics
import AudioDevices
import AudioFiles
import DelayEstimation
import LatencyMeasurement

/// Measures in a recording made elsewhere of a signal that is known: the same estimator, the same
/// events.
struct OfflineLatency {
  private let command: LatencyCommand
  private let listen: String
  private let reference: String
  /// What is looked at of each file.
  private static let mostSeconds = 60

  init(_ command: LatencyCommand, listen: String, reference: String) {
    self.command = command
    self.listen = listen
    self.reference = reference
  }

  func run() throws -> ExitStatus {
    let played = try Channels(reference)
    let heard = try Channels(listen)
    guard played.sampleRate == heard.sampleRate else {
      throw ToolFailure(
        .unusableInput, code: "inputUnusable",
        "\(listen) has \(heard.sampleRate) Hz and \(reference) \(played.sampleRate) Hz.",
        hint: "Convert one of them first, with sox -r.")
    }
    var trips = RoundTrips()
    let from = try channel(command.fromChannel, of: played, reference)
    let to = try channel(command.toChannel, of: heard, listen)
    // A reference of several equal channels is one signal.
    let froms = from.map { [$0] } ?? played.distinct
    for from in froms {
      for to in to.map({ [$0] }) ?? Array(heard.samples.indices) {
        var estimator = DelayEstimator()
        estimator.choice = command.choice
        estimator.draws = command.report != nil
        let reference = played.samples[from]
        let recording = heard.samples[to]
        if let estimate = estimator.estimate(reference: reference.span, in: recording.span) {
          trips.add(estimate, from: from, to: to)
        }
      }
    }
    var report = SessionTotals()
    report.readFrames(heard.frameCount)
    return try LatencyResult(trips, configuration(heard.sampleRate), report).conclude(command)
  }

  private func channel(_ number: Int?, of file: Channels, _ path: String) throws -> Int? {
    guard let number else { return nil }
    guard number <= file.samples.count else {
      throw ToolFailure(
        .usage, code: "usage",
        "\(path) has \(file.samples.count) channels, and no channel \(number).",
        hint: "Count them from 1.")
    }
    return number - 1
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

  /// A sound file, channel by channel.
  private struct Channels {
    let sampleRate: Int
    private(set) var samples: [[Float]]

    var frameCount: Int { samples.first?.count ?? 0 }

    /// The channels of which no earlier one has the same sound.
    var distinct: [Int] {
      samples.indices.filter { index in
        !samples[..<index].contains(samples[index])
      }
    }

    init(_ path: String) throws {
      var file = try SoundFileReader(path: path)
      sampleRate = file.sampleRate
      let channelCount = file.channelCount
      samples = Array(repeating: [], count: channelCount)
      var chunk = SampleBuffer(frameCount: 4096, channelCount: channelCount)
      while frameCount < mostSeconds * sampleRate {
        let count = try file.read(into: &chunk)
        guard count > 0 else { break }
        for channel in 0..<channelCount {
          samples[channel] += (0..<count).map { chunk[$0 * channelCount + channel] }
        }
      }
    }
  }
}

extension SessionTotals {
  /// As if a session had gone over a file of so many frames.
  fileprivate mutating func readFrames(_ count: Int) {
    var report = report
    report.frames = count
    add(report)
  }
}
