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
struct MonitorCommand: AudioCommand {
  static let configuration = CommandConfiguration(
    commandName: "monitor", abstract: "Play the microphone through the headphones.",
    discussion: """
      Files and addresses can be mixed in with --mix, and recorded at the same time with --record. Ctrl-C or \
      q ends it, ? shows all keys.

      --start, --end, --region, --loop, --reverse, --speed and --pan apply to the files of --mix. Keys: space \
      pauses and goes on, d attenuates the microphone, - and + change its gain.
      """)

  @OptionGroup var audio: AudioOptions

  var outputMode: OutputMode { audio.outputMode }

  var furtherDevices: [String] {
    get { alsoPlay.devices }
    set { alsoPlay.devices = newValue }
  }

  var stoppedStatus: ExitStatus { .done }

  @OptionGroup var alsoPlay: AlsoPlayOption

  @OptionGroup var reconnection: ReconnectOption

  @Option(
    parsing: .unconditional, help: ArgumentHelp("Gain of the microphone in dB.", valueName: "db"))
  var gain = Gain.unity

  @Flag(help: "Do not play the microphone, only the files of --mix.")
  var mute = false

  @Option(
    name: .customLong("mix"),
    help: ArgumentHelp(
      "Mix in a file, an address, a playlist or a folder. The gain is in dB. May be repeated.",
      valueName: "file[:db]"))
  var mixes: [MixOption] = []

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Place of the files of --mix: from -1, left, to 1, right, for all or one for each.",
      valueName: "p,..."))
  var pan = PerSource(Pan())

  @OptionGroup var order: OrderOptions

  @Option(name: .customLong("record"), help: ArgumentHelp("Record to a file.", valueName: "file"))
  var recordPath: String?

  @Option(
    help: ArgumentHelp(
      "Record the microphone only (mic) or with the mixed-in files (mix).", valueName: "what"))
  var recordWhat = RecordWhat.mic

  @Flag(help: "Replace the recorded file if it exists.")
  var overwrite = false

  @OptionGroup var silence: SilenceStopOption

  @OptionGroup var recording: RecordingOptions

  @OptionGroup var protection: MonitorProtectionOptions

  func validate() throws {
    guard !mixes.isEmpty || (order.isPlain && pan == PerSource(Pan())) else {
      throw ValidationError("What is to be played is named with --mix: name a file.")
    }
    guard recordPath != nil || (recording.isPlain && recordWhat == .mic) else {
      throw ValidationError("What is to be recorded goes to a file: name it with --record.")
    }
    guard !recording.cleaning.echoCancel || !mixes.isEmpty else {
      throw ValidationError("Nothing is played, so there is no echo: name what is with --mix.")
    }
  }

  func run() throws {
    var target = try recordPath.map { path throws(ToolFailure) in
      try RecordingTarget(path: path, fileFormat: nil, sampleFormat: nil, overwrite: overwrite)
    }
    try target?.check(recording, json: audio.json)
    let status = try inTermsOfTheTool {
      let items = try PlayItems(
        mixing: mixes, order, pans: pan, resamplerQuality: audio.resamplerQuality)
      var inputs = InputFiles(audio)
      inputs.add(items, from: mixes)
      target?.inputs = inputs.identities
      let use = MonitorUse(command: self, target: target, items: items.items)
      return try DeviceChoice(
        audio, captures: true, plays: true, alsoPlay: alsoPlay.devices
      ).use(use)
    }
    throw ExitCode(status.rawValue)
  }
}

/// Plays a device's input to its output, with what is mixed in and recorded.
private struct MonitorUse: DeviceUse {
  let command: MonitorCommand
  let target: RecordingTarget?
  let items: [QueueItem]

  func run(
    on device: consuming DuplexDevice, clock: SessionClock, background: [any BackgroundWork]
  ) throws -> ExitStatus {
    let configuration = device.configuration
    var callbacks = Mixer(configuration)
    var work = background
    var session: RecordingSession?
    var protection: MonitorProtectionDisplay?
    if !command.mute {
      callbacks.monitor = .fadeIn(to: command.gain, configuration)
      protection = command.protection.install(
        on: &callbacks, fullScale: command.gain.factor, command.audio, configuration)
    }
    let player = callbacks.makePlayer(items, configuration)
    let progress = player.map { TrackProgress($0, command.audio, tellsFailuresOnly: true) }
    if let player { work += player.background }
    if let target {
      let source = command.recordWhat == .mic ? configuration.capture : configuration.playback
      let made = try RecordingSession(
        target, command.recording, command.audio, source, configuration, clock)
      made.install(on: &callbacks, takesMix: command.recordWhat == .mix)
      work.append(made.saver)
      session = made
    }
    let gain = command.mute ? nil : callbacks.makeMonitorGain(configuration)
    let keys = MixerKeys(
      gain: gain, from: command.mute ? 0 : command.gain.decibels, player: player,
      mutesInput: true)
    let silence = command.silence.follower(at: configuration.sampleRate)
    let meter = callbacks.makeMeter(command.audio, configuration, isFollowed: silence != nil)
    let outcome = try SessionOutcome(
      running: device, callbacks, command.audio, clock, background: work, meter: meter,
      frameLimit: session?.frameLimit, recording: session?.watch, protection: protection,
      mixerKeys: keys,
      reconnects: command.reconnection.isWanted(for: configuration)
    ) { moment in
      progress?.follow()
      if session?.watch.isWaiting == true { silence?.restart() }
      return silence?.poll(moment)
    }
    progress?.follow()
    let headroom = configuration.headroomFrames + outcome.report.addedLatencyFrames
    var extra: [(String, JSON)] = [
      ("periodFrames", .integer(configuration.periodFrames)),
      ("headroomFrames", .integer(headroom)),
      ("latencyFrames", .rounded(outcome.latencyFrames, 3)),
    ]
    extra += protection?.summary ?? MonitorProtectionDisplay.emptySummary
    extra += session?.summary ?? []
    return outcome.conclude(
      "monitor", recorded: session?.saver.report, failure: progress?.failure,
      isTold: session?.saver.report.failure == nil && progress?.announces ?? false, extra: extra,
      sentence: sentence(outcome) + (protection?.sentence ?? "")
        + (session.map { " " + $0.sentence } ?? ""))
  }

  private func sentence(_ outcome: SessionOutcome) -> String {
    let configuration = outcome.configuration
    let latency = outcome.latencyFrames
    let milliseconds = latency * 1000 / Double(configuration.sampleRate)
    let xruns = outcome.report.captureXruns + outcome.report.playbackXruns
    return
      "Monitored \((Double(outcome.report.frames) / Double(configuration.sampleRate)).shown(2)) "
      + "s, \(latency.shown(1)) frames (\(milliseconds.shown(2)) ms) from input to output, "
      + "\(xruns) xrun\(xruns == 1 ? "" : "s")."
  }
}
