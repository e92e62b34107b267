import ArgumentParser
import AudioBasics
import AudioClocks
import AudioDevices
import AudioFiles
import AudioSessions
import DelayEstimation
import Duplex
import LatencyMeasurement
import RealtimeAudio

/// The command `duplex latency`.
struct LatencyCommand: AudioCommand {
  /// The numbers of times that the device is opened.
  static let reopenRange = 1...1000

  static let configuration = CommandConfiguration(
    commandName: "latency",
    abstract: "Measure the round trip from output to input over a cable or the air.",
    discussion: """
      First connect an output to an input with a cable, or put a microphone in front of a loudspeaker \
      (--acoustic). --save keeps the result for `duplex overdub`.

      The command plays quiet bursts of noise, each louder than the one before, up to --level, until \
      the input receives them clearly. With --listen and --reference nothing is played: the delay is \
      measured in an existing recording.
      """)

  @OptionGroup var audio: AudioOptions

  @Option(
    name: .customLong("repeat"),
    help: .init("Number of measurements of each output channel.", valueName: "n"))
  var repeats = 5

  @Option(help: .init("Open the device this many times, and measure each time.", valueName: "n"))
  var reopen = 1

  @Option(
    parsing: .unconditional,
    help: .init("Highest peak of the test signal, in dBFS.", valueName: "db"))
  var level = LevelOption(-12)

  @Option(help: .init("Output channel to play on, from 1. (default: each in turn)", valueName: "n"))
  var fromChannel: Int?

  @Option(help: .init("Input channel to listen on, from 1. (default: all)", valueName: "n"))
  var toChannel: Int?

  @Flag(help: "Measure through the air: use the first arrival instead of the strongest.")
  var acoustic = false

  @Flag(help: "Save the result for this device and these settings; overdub uses it.")
  var save = false

  @OptionGroup var picture: ReportOptions

  @Option(
    help: .init("Find the delay of the sound of --reference in this recording.", valueName: "file"))
  var listen: String?

  @Option(help: .init("With --listen: the file that was played.", valueName: "file"))
  var reference: String?

  func validate() throws {
    try require(
      RoundTripSettings.repeatRange.contains(repeats) && Self.reopenRange.contains(reopen),
      "--repeat must be \(RoundTripSettings.repeatRange.boundsText), and --reopen \(Self.reopenRange.boundsText)."
    )
    try require(
      LevelOption.decibelRange.contains(level.decibels),
      "--level must be \(LevelOption.decibelRange.boundsText) dBFS, such as -12.")
    try require(
      (listen == nil) == (reference == nil),
      "--listen and --reference must be given together.")
    try require(
      listen == nil || !save,
      "--save cannot be used with --listen: it saves the round trip of a device, and none is measured. "
        + "Leave --save out, and give overdub the result with --latency.")
    try require(
      [fromChannel, toChannel].compactMap(\.self).allSatisfy(DuplexRequest.channelRange.contains),
      "--from-channel and --to-channel must be \(DuplexRequest.channelRange.boundsText).")
  }

  func perform() throws -> ExitStatus {
    var inputs = InputFiles(audio)
    for path in [listen, reference].compactMap({ $0 }) { inputs.add(path) }
    try picture.check(against: inputs)
    if save { try SavedRoundTrip.checkFolder() }
    if let listen, let reference {
      return try OfflineLatency(self, listen: listen, reference: reference).run()
    }
    return try LatencyRun(self).run()
  }

  /// Returns the index, from 0, of the channel `number` of the `count` channels that `owner` has;
  /// nil if no channel is named. Throws if `number` is too high.
  static func channel(_ number: Int?, of count: Int, _ owner: String, hint: String)
    throws(ToolFailure) -> Int?
  {
    guard let number else { return nil }
    guard number <= count else {
      throw ToolFailure.usage(
        "\(owner) has \(count.counted("channel")), so there is no channel \(number).", hint: hint)
    }
    return number - 1
  }

  /// The arrival that is used as the result.
  var choice: DelayEstimator.Choice { acoustic ? .first : .strongest }
}

/// A measurement on a device, with one open stream or several in succession.
final class LatencyRun {
  private let command: LatencyCommand
  private var trips = RoundTrips()
  private var sessions = SessionTotals()
  private var configuration: DuplexConfiguration?
  private let line = ProgressLine("Measuring", "measurement")

  init(_ command: LatencyCommand) {
    self.command = command
  }

  /// What --duration leaves for the next stream; nil without a limit.
  private var durationLeft: TimeOption? {
    guard let configuration, let duration = command.audio.duration else {
      return command.audio.duration
    }
    let frames = duration.frameCount(at: configuration.sampleRate) - sessions.report.frames
    return .frames(Double(max(0, frames)))
  }

  func run() throws -> ExitStatus {
    for number in 0..<command.reopen {
      let choice = DeviceChoice(command.audio, captures: true, plays: true)
      let (found, outcome) = try choice.use { open in try measure(number, on: open) }
      trips.add(found)
      sessions.add(outcome)
      configuration = outcome.configuration
      // If the first stream received no signal, another one will not receive it either.
      if sessions.isEnded || trips.pairs.isEmpty { break }
    }
    guard let configuration else { return .loss }
    return try LatencyResult(trips, configuration, sessions).conclude(command)
  }

  /// Measures on one open stream.
  private func measure(
    _ number: Int, on open: consuming OpenDevice
  ) throws -> (RoundTrips, SessionOutcome) {
    if command.save, number == 0 { try SavedRoundTrip.checkFile(for: open.configuration) }
    let plan = try plan(open.configuration, draws: number == 0)
    let share = 1 / Double(command.reopen)
    let opening = command.reopen > 1 ? "opening \(number + 1) of \(command.reopen), " : ""
    var options = command.audio
    options.duration = durationLeft
    return try measureRoundTrips(on: open, plan, options) {
      [line] done, what in
      line.progress((Double(number) + done) * share, of: opening + what)
    } progress: { [line] done in
      if OutputMode.current.json { line.reportProgress((Double(number) + done) * share) }
    }
  }

  private func plan(_ configuration: DuplexConfiguration, draws: Bool) throws -> ProbePlan {
    var plan = ProbePlan(configuration)
    let hint = "Use a lower number, or ask for more channels with --channels."
    plan.fromChannel = try LatencyCommand.channel(
      command.fromChannel, of: plan.playbackChannels, "The output", hint: hint)
    plan.toChannel = try LatencyCommand.channel(
      command.toChannel, of: plan.captureChannels, "The input", hint: hint)
    plan.repeats = command.repeats
    plan.levelCapDBFS = command.level.decibels
    plan.choice = command.choice
    plan.draws = draws && command.picture.report != nil
    return plan
  }
}

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
