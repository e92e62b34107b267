import ArgumentParser
import AudioBasics
import AudioDevices
import AudioFiles
import AudioSessions
import RealtimeAudio

/// The signal that `--record` records: the microphone only, or with the files mixed in.
enum RecordWhat: String, ExpressibleByArgument, CaseIterable {
  case mic, mix
}

/// The command `duplex monitor`.
struct MonitorCommand: MicrophoneCommand {
  static let configuration = CommandConfiguration(
    commandName: "monitor", abstract: "Play the microphone through the headphones.",
    discussion: """
      Wear headphones: a loudspeaker howls. --mix plays a file as well, --record records at the same time. \
      Press q or Ctrl-C to end, ? for all keys.

      --start, --end, --region, --loop, --reverse, --speed and --pan apply to the files of --mix.

      \(KeyBindings.help(of: "monitor"))
      """)

  @OptionGroup var audio: AudioOptions

  var stoppedStatus: ExitStatus { .done }

  @OptionGroup var alsoPlay: AlsoPlayOption

  @OptionGroup var reconnection: ReconnectOption

  @Option(
    parsing: .unconditional,
    help: .init(
      "Gain of the played microphone in dB. --record records it without this gain, except with --record-what mix.",
      valueName: "db"))
  var gain = Gain.unity

  @Flag(help: "Play only the files of --mix, not the microphone.")
  var mute = false

  @Option(
    name: .customLong("mix"),
    help: .init(
      "Mix in a file, an address, a playlist or a folder. The gain is in dB. May be repeated: then all files play at the same time.",
      valueName: "file[:db]"))
  var mixes: [MixOption] = []

  @Option(
    parsing: .unconditional,
    help: .init(
      "Pan of the files of --mix: \(OptionRanges.pansText), one for all or one for each.",
      valueName: "p,..."))
  var pan = PerSource(Pan())

  @OptionGroup var range: RangeOptions

  @Option(name: .customLong("record"), help: .init("Record to a file.", valueName: "file"))
  var recordPath: String?

  @Option(
    help: .init(
      "Record the microphone only (mic) or with the mixed-in files (mix).", valueName: "what"))
  var recordWhat = RecordWhat.mic

  @Flag(help: "Replace the recorded file if it exists.")
  var overwrite = false

  @OptionGroup var silence: SilenceStopOption

  @OptionGroup var recording: RecordingOptions

  @OptionGroup var protection: MonitorProtectionOptions

  static var completeWords: [String] { ["--record=x.wav"] + processingWords }

  func validate() throws {
    try recording.check(silence)
    try require(
      !mixes.isEmpty || (range.isPlain && pan == PerSource(Pan())),
      "Options for played files need a file: add --mix FILE.")
    try require(
      recordPath != nil || (recording.isPlain && recordWhat == .mic),
      "Options for a recording need its file: add --record FILE.")
    try require(
      !recording.cleaning.echoCancel || !mixes.isEmpty,
      "--echo-cancel needs a file that is played: add --mix FILE.")
  }

  func checkCombination() throws {
    try range.checkOrder()
    try target?.checkCombination(recording, audio)
  }

  /// The target of the recording; nil without one.
  private var target: RecordingTarget? {
    get throws(ToolFailure) {
      try recordPath.map { path throws(ToolFailure) in
        try RecordingTarget(path: path, fileFormat: nil, sampleFormat: nil, overwrite: overwrite)
      }
    }
  }

  func perform() throws -> ExitStatus {
    var target = try target
    try target?.check(recording, json: audio.json)
    let items = try PlayItems(
      mixing: mixes, range, pans: pan, resamplerQuality: audio.resamplerQuality)
    var inputs = InputFiles(audio)
    inputs.add(items, from: mixes)
    target?.inputs = inputs.identities
    let choice = DeviceChoice(audio, captures: true, plays: true, alsoPlay: alsoPlay.devices)
    return try choice.use { open in
      let session = try MicrophoneSession.run(
        self, on: open, .output, playsMicrophone: !mute, target: target,
        recordsMix: recordWhat == .mix, items: items.items)
      return session.conclude("monitor", fields(session), sentence: sentence(session))
    }
  }

  private func fields(_ session: MicrophoneSession) -> Fields {
    let outcome = session.outcome
    let configuration = outcome.configuration
    return [
      "periodFrames": configuration.periodFrames,
      "headroomFrames": configuration.headroomFrames + outcome.report.addedLatencyFrames,
      "latencyFrames": outcome.latencyFrames.digits(3),
    ] + (session.protection?.summary ?? MonitorProtectionDisplay.emptySummary)
  }

  private func sentence(_ session: MicrophoneSession) -> String {
    let outcome = session.outcome
    let configuration = outcome.configuration
    let latency = outcome.latencyFrames
    let milliseconds = latency * 1000 / Double(configuration.sampleRate)
    let xruns = outcome.report.captureXruns + outcome.report.playbackXruns
    return "Monitored \(configuration.seconds(outcome.report.frames).shown(2)) s, "
      + "\(latency.shown(1)) frames (\(milliseconds.shown(2)) ms) from input to output, "
      + "\(xruns.counted("xrun"))." + (session.protection?.sentence ?? "")
      + (session.recording.map { " " + $0.summary.sentence(outcome.report) } ?? "")
  }
}
