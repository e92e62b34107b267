import AudioBasics
import AudioClocks
import AudioDevices
import AudioFiles
import DelayEstimation
import LatencyMeasurement

/// The measurement of the delay of a known signal in an existing recording. It uses the same
/// estimator and the same events as a measurement on a device.
///
/// The first minute of the reference is searched for in the whole recording, one minute at a time.
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
    let recording = try ChannelReader(listen)
    let rate = recording.sampleRate
    guard played.sampleRate == rate else {
      throw ToolFailure.unusable(
        "\(listen) has a rate of \(rate) Hz, and \(reference) of \(played.sampleRate) Hz.",
        hint: "Convert one of the files to the rate of the other first: sox IN -r RATE OUT.")
    }
    // The samples of some seconds are held in memory, so a wrong rate in a header must not pass.
    guard RateConverter.supportedRates.contains(rate) else {
      throw ToolFailure.unusable(
        "\(listen) has a rate of \(rate) Hz, which no sound has.",
        hint: "Check the file with `duplex inspect`.")
    }
    let from = try LatencyCommand.channel(
      command.fromChannel, of: played.samples.count, reference,
      hint: "Channels are numbered from 1.")
    let to = try LatencyCommand.channel(
      command.toChannel, of: recording.samples.count, listen, hint: "Channels are numbered from 1.")
    try played.fill(to: Self.stretchSeconds * rate)
    let references = played.samples
    // Equal channels of the reference are searched for only once.
    let froms = from.map { [$0] } ?? Self.distinct(references)
    let tos = to.map { [$0] } ?? Array(recording.samples.indices)
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

  /// Returns the strongest match in the whole recording, and the length of the recording in frames.
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

  /// Returns the channels whose samples differ from those of all earlier channels.
  private static func distinct(_ channels: [[Float]]) -> [Int] {
    channels.indices.filter { index in !channels[..<index].contains(channels[index]) }
  }

  /// Returns a configuration without a device: none of the delay is caused by buffers of this
  /// program.
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

/// A sliding range of a sound file, with the samples of each channel.
struct ChannelReader: ~Copyable {
  private let file: any SoundDecoder
  private var chunk: SampleBuffer

  /// The samples of each channel in the current range; all channels have the same number of frames.
  private(set) var samples: [[Float]]

  /// The sample rate in Hz.
  var sampleRate: Int { file.sampleRate }

  init(_ path: String) throws {
    file = try Decoding.decoder(forPath: path)
    let channelCount = file.channelCount
    chunk = SampleBuffer(frameCount: 4096, channelCount: channelCount)
    samples = Array(repeating: [], count: channelCount)
  }

  /// Reads until the range has `frames` frames or the file ends. Samples that are not finite become
  /// 0.
  mutating func fill(to frames: Int) throws {
    while let count = samples.first?.count, count < frames {
      let read = try file.read(
        into: &chunk, at: 0, frames: min(chunk.frameCount, frames - count))
      guard read > 0 else { return }
      let channelCount = samples.count
      for channel in 0..<channelCount {
        for frame in 0..<read {
          let sample = chunk[frame * channelCount + channel]
          samples[channel].append(sample.isFinite ? sample : 0)
        }
      }
    }
  }

  /// Removes the first `frames` frames.
  mutating func drop(_ frames: Int) {
    for channel in samples.indices {
      samples[channel].removeFirst(min(frames, samples[channel].count))
    }
  }
}
