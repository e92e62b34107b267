import ArgumentParser
import AudioBasics
import AudioDevices
import AudioFiles
import AudioSessions

extension FileFormat: ExpressibleByArgument {
  /// What the user's word for it means.
  public init?(argument: String) {
    self.init(name: argument)
  }
}

extension FileSampleFormat: ExpressibleByArgument {
  /// What the user's word for it means.
  public init?(argument: String) {
    self.init(name: argument)
  }
}

/// `duplex record`.
struct RecordCommand: AudioCommand {
  static let configuration = CommandConfiguration(
    commandName: "record", abstract: "Record the microphone to a file.",
    discussion: """
      Without FILE it records to note-YYYYMMDD-HHMMSS.wav in the current folder; - is standard \
      output. Ctrl-C or q ends it, ? shows all keys.

      Keys: space pauses and goes on, m or SIGUSR2 sets a marker, s or SIGUSR1 starts a new file, - and + \
      change the gain. The file is complete when the program ends.
      """)

  @OptionGroup var audio: AudioOptions

  var outputMode: OutputMode { audio.outputMode }

  var furtherDevices: [String] {
    get { alsoPlay.devices }
    set { alsoPlay.devices = newValue }
  }

  var plays: Bool { monitor || !mixes.isEmpty }

  var stoppedStatus: ExitStatus { .done }

  @OptionGroup var alsoPlay: AlsoPlayOption

  @OptionGroup var reconnection: ReconnectOption

  @Option(
    help: ArgumentHelp(
      "wav, rf64, w64, aiff, caf, flac, ogg, opus, mp3 or raw. (default: by the extension)",
      valueName: "name"))
  var fileFormat: FileFormat?

  @Option(
    help: ArgumentHelp(
      "Sample format of the file: s16, s24, s32 or float. (default: that of the device)",
      valueName: "name"))
  var sampleFormat: FileSampleFormat?

  @Flag(help: "Replace FILE if it exists.")
  var overwrite = false

  @Flag(help: "Play the microphone to the output as well.")
  var monitor = false

  @Option(
    name: .customLong("mix"),
    help: ArgumentHelp(
      "Play a file during the recording; it is not recorded. The gain is in dB. May be repeated.",
      valueName: "file[:db]"))
  var mixes: [MixOption] = []

  @Option(
    parsing: .unconditional, help: ArgumentHelp("Gain of the input in dB.", valueName: "db"))
  var gain = Gain.unity

  @OptionGroup var silence: SilenceStopOption

  @OptionGroup var recording: RecordingOptions

  @OptionGroup var protection: MonitorProtectionOptions

  @Argument(help: "The file to record to.")
  var file: String?

  func validate() throws {
    guard !recording.cleaning.echoCancel || !mixes.isEmpty else {
      throw ValidationError("Nothing is played, so there is no echo: name what is with --mix.")
    }
    guard alsoPlay.devices.isEmpty || monitor || !mixes.isEmpty else {
      throw ValidationError("Nothing is played: say --monitor, or name what is with --mix.")
    }
  }

  func run() throws {
    var target = try RecordingTarget(
      path: file ?? RecordingTarget.noteName(fileFormat ?? .wav), fileFormat: fileFormat,
      sampleFormat: sampleFormat,
      overwrite: overwrite, takesFormat: true)
    try target.check(recording, json: audio.json)
    let status = try inTermsOfTheTool {
      let items = try PlayItems(
        mixing: mixes, try OrderOptions.parse([]), resamplerQuality: audio.resamplerQuality)
      var inputs = InputFiles(audio)
      inputs.add(items, from: mixes)
      target.inputs = inputs.identities
      let use = RecordUse(command: self, target: target, items: items.items)
      return try DeviceChoice(
        audio, captures: captures, plays: plays, alsoPlay: alsoPlay.devices
      ).use(use)
    }
    throw ExitCode(status.rawValue)
  }
}

/// Records what a device captures.
private struct RecordUse: DeviceUse {
  let command: RecordCommand
  let target: RecordingTarget
  let items: [QueueItem]

  func run(
    on device: consuming DuplexDevice, clock: SessionClock, background: [any BackgroundWork]
  ) throws -> ExitStatus {
    let configuration = device.configuration
    let session = try RecordingSession(
      target, command.recording, command.audio, configuration.capture, configuration, clock)
    var callbacks = Mixer(configuration)
    callbacks.inputGain = SmoothedGain(command.gain)
    session.install(on: &callbacks)
    var protection: MonitorProtectionDisplay?
    if command.monitor {
      callbacks.monitor = .fadeIn(to: .unity, configuration)
      protection = command.protection.install(
        on: &callbacks, fullScale: command.gain.factor, command.audio, configuration)
    }
    let player = callbacks.makePlayer(items, configuration)
    let progress = player.map { TrackProgress($0, command.audio, tellsFailuresOnly: true) }
    let gain = callbacks.makeInputGain(configuration)
    let keys = MixerKeys(
      gain: gain, from: command.gain.decibels, player: player, mutesInput: false)
    let silence = command.silence.follower(at: configuration.sampleRate)
    let meter = callbacks.makeMeter(command.audio, configuration, isFollowed: silence != nil)
    let outcome = try SessionOutcome(
      running: device, callbacks, command.audio, clock,
      background: background + [session.saver] + (player?.background ?? []), meter: meter,
      frameLimit: session.frameLimit, recording: session.watch, protection: protection,
      mixerKeys: keys,
      reconnects: command.reconnection.isWanted(for: configuration)
    ) { moment in
      progress?.follow()
      if session.watch.isWaiting { silence?.restart() }
      return silence?.poll(moment)
    }
    progress?.follow()
    let report = session.saver.report
    return outcome.conclude(
      "record", recorded: report, failure: progress?.failure,
      isTold: report.failure == nil && progress?.announces ?? false,
      extra: (protection?.summary ?? []) + session.summary,
      sentence: target.isStream ? nil : session.sentence)
  }
}
