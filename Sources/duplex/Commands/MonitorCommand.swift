import ArgumentParser
import AudioBasics
import AudioDevices
import AudioFiles
import AudioSessions
import RealtimeAudio

/// What `--record` takes down.
enum RecordWhat: String, ExpressibleByArgument, CaseIterable {
  case mic, mix
}

/// `duplex monitor`.
struct MonitorCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "monitor", abstract: "Play the microphone through the headphones.",
    discussion: """
      Files can be mixed in, and what is heard or what comes in can be recorded at the same time.
      Ctrl-C or q ends it.
      """)

  @OptionGroup var audio: AudioOptions

  @Option(
    parsing: .unconditional, help: ArgumentHelp("Gain of the microphone in dB.", valueName: "db"))
  var gain = DecibelOption(0)

  @Flag(help: "Do not play the microphone, only what is mixed in.")
  var mute = false

  @Option(
    name: .customLong("mix"),
    help: ArgumentHelp("Mix a file in, at a gain in dB; may be repeated.", valueName: "file[:db]"))
  var mixes: [MixOption] = []

  @Option(name: .customLong("record"), help: ArgumentHelp("Record to a file.", valueName: "file"))
  var recordPath: String?

  @Option(
    help: ArgumentHelp("Record the microphone (mic) or what is heard (mix).", valueName: "what"))
  var recordWhat = RecordWhat.mic

  @Flag(help: "Replace the recorded file if it exists.")
  var overwrite = false

  func run() throws {
    let target = try recordPath.map { path throws(ToolFailure) in
      try RecordingTarget(path: path, fileFormat: nil, sampleFormat: nil, overwrite: overwrite)
    }
    let use = MonitorUse(command: self, target: target)
    let status = try inTermsOfTheTool {
      try DeviceChoice(audio, captures: true, plays: true).use(use)
    }
    throw ExitCode(status.rawValue)
  }
}

/// Plays a device's input to its output, with what is mixed in and recorded.
private struct MonitorUse: DeviceUse {
  let command: MonitorCommand
  let target: RecordingTarget?

  func run<Device: DuplexDevice & ~Copyable>(
    on device: consuming Device, clock: SessionClock, background: [any BackgroundWork]
  ) throws -> ExitStatus {
    let configuration = device.configuration
    var desk = MixingDesk(configuration)
    var work = background
    if !command.mute {
      desk.monitor = .softStart(gain: command.gain.gain, configuration)
    }
    let feeder = try mixFeeder(configuration, &desk)
    if let feeder { work.append(feeder) }
    var saver: TapeSaver?
    var extra: [(String, JSON)] = [
      ("periodFrames", .integer(configuration.periodFrames)),
      ("headroomFrames", .integer(configuration.headroomFrames)),
      ("latencyFrames", .rounded(configuration.latencyFrames, 3)),
    ]
    if let target {
      let source = command.recordWhat == .mic ? configuration.capture : configuration.playback
      var recording = try Recording(
        target, channelCount: source?.channelCount ?? 1, sampleRate: configuration.sampleRate,
        from: source?.format)
      desk.recorder = recording.takeRecorder()
      desk.recordingSource = command.recordWhat == .mic ? .microphone : .mix
      saver = recording.saver
      work.append(recording.saver)
      extra.append(("path", .string(target.path)))
    }
    let meter = desk.makeMeter(command.audio, configuration)
    let outcome = try SessionOutcome(
      running: device, desk, command.audio, clock, background: work, meter: meter
    ) { _ in
      if saver?.isFailed == true { return .disk }
      return nil
    }
    return outcome.conclude(
      "monitor", recorded: saver?.report, failure: feeder?.failure, extra: extra,
      sentence: sentence(outcome))
  }

  private func mixFeeder(_ configuration: DuplexConfiguration, _ desk: inout MixingDesk) throws
    -> PlayFeeder?
  {
    guard !command.mixes.isEmpty else { return nil }
    let channels = configuration.playback?.channelCount ?? 2
    let tracks = try command.mixes.map { mix in
      try Track(
        path: mix.path, sampleRate: configuration.sampleRate, channelCount: channels,
        gain: mix.level.gain, resamplerQuality: command.audio.resamplerQuality)
    }
    let ring = SampleWriter(
      frameCount: max(configuration.sampleRate, 4 * configuration.periodFrames),
      channelCount: channels)
    desk.player = Player(
      ring: ring.makeReader(), channelCount: channels, periodFrames: configuration.periodFrames)
    return PlayFeeder(
      ring: ring, source: TrackMix(tracks, channelCount: channels), channelCount: channels)
  }

  private func sentence(_ outcome: SessionOutcome) -> String {
    let configuration = outcome.configuration
    let latency = configuration.latencyFrames
    let milliseconds = latency * 1000 / Double(configuration.sampleRate)
    let xruns = outcome.report.captureXruns + outcome.report.playbackXruns
    return
      "Monitored \((Double(outcome.report.frames) / Double(configuration.sampleRate)).shown(2)) "
      + "s, \(latency.shown(1)) frames (\(milliseconds.shown(2)) ms) from input to output, "
      + "\(xruns) xruns."
  }
}
