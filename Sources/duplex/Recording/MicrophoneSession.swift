import AudioBasics
import AudioDevices
import AudioFiles
import AudioSessions
import Duplex

/// A command that records a microphone, plays it, or both, and may mix in files.
protocol MicrophoneCommand: AlsoPlayingCommand {
  var gain: Gain { get }
  var reconnection: ReconnectOption { get }
  var silence: SilenceStopOption { get }
  var recording: RecordingOptions { get }
  var protection: MonitorProtectionOptions { get }
}

extension MicrophoneCommand {
  /// The options on which other options of these commands depend.
  static var processingWords: [String] {
    [
      "--mix=x.wav", "--split=10:00", "--voice-activated", "--high-pass=80",
      "--limit-lookahead=5ms",
    ]
  }
}

/// A session of a `MicrophoneCommand` that has ended.
struct MicrophoneSession {
  let outcome: SessionOutcome
  let recording: RecordingSession?
  let protection: MonitorProtectionDisplay?
  private let progress: TrackProgress?

  /// The place where the gain of the command is applied: the whole input, or the played microphone
  /// only.
  enum GainPlace {
    case input
    case output

    /// Returns the control of a session in which `gain` is applied here.
    fileprivate func control(_ gain: Gain) -> SessionControl {
      let control = SessionControl()
      switch self {
      case .input: control.inputGain = gain
      case .output: control.monitorGain = gain
      }
      return control
    }
  }

  /// Runs `command` on `open`, and returns when the session has ended. The microphone is played if
  /// `playsMicrophone` is true, and recorded to `target`, together with the mixed-in files if
  /// `recordsMix` is true. `items` are mixed in. Throws if a file cannot be created, the device
  /// cannot be started, or an option does not suit it.
  static func run(
    _ command: some MicrophoneCommand, on open: consuming OpenDevice, _ place: GainPlace,
    playsMicrophone: Bool, target: RecordingTarget?, recordsMix: Bool = false, items: [QueueItem]
  ) throws -> MicrophoneSession {
    let (configuration, clock) = (open.configuration, open.clock)
    try command.protection.checkLookahead(at: configuration.sampleRate)
    var callbacks = Mixer(configuration)
    var parts = SessionParts()
    let recording = try target.map {
      try RecordingSession(
        $0, command.recording, command.audio, configuration, clock, recordsMix: recordsMix)
    }
    recording?.install(on: &callbacks, &parts)
    let control = place.control(command.gain)
    control.install(on: &callbacks, configuration, playsMicrophone: playsMicrophone)
    if playsMicrophone {
      parts.protection = command.protection.install(on: &callbacks, configuration)
    }
    let player = try callbacks.makePlayer(items, configuration)
    let progress = player.map { TrackProgress($0, reportsFailuresOnly: true) }
    parts.background += player?.background ?? []
    parts.commandKeys = [
      keys(
        control, place, player, recording?.watch, playsMicrophone: playsMicrophone,
        from: command.gain)
    ]
    let silence = command.silence.follower(
      at: configuration.sampleRate, after: recording?.checkFrames ?? 0)
    var meter: MeterView?
    if recording?.watch.measuresLevels != false {
      meter = callbacks.makeMeter(command.audio, configuration, isFollowed: silence != nil)
    }
    parts.reconnects = command.reconnection.isWanted(for: configuration)
    parts.poll = { [watch = parts.recording] snapshot in
      progress?.follow()
      if watch?.isWaiting == true { silence?.restart() }
      return silence?.poll(snapshot)
    }
    let outcome = try SessionOutcome.run(callbacks, on: open, command.audio, meter: meter, parts)
    progress?.follow()
    return MicrophoneSession(
      outcome: outcome, recording: recording, protection: parts.protection, progress: progress)
  }

  /// Returns the keys that change the gain at `place`, from `gain` on, and that pause the files of
  /// `player` and the recording.
  private static func keys(
    _ control: SessionControl, _ place: GainPlace, _ player: AudioPlayer?,
    _ watch: RecordingWatch?, playsMicrophone: Bool, from gain: Gain
  ) -> MicrophoneKeys {
    var targets = MicrophoneKeys.KeyTargets()
    targets.player = player
    targets.pauseRecording = watch.map { watch in { watch.pause($0, at: $1) } }
    let hasBacking = playsMicrophone && player != nil
    switch place {
    case .input:
      targets.gain = .input(
        set: { control.inputGain = $0 },
        setMonitor: hasBacking ? { control.monitorGain = $0 } : nil)
    case .output:
      if playsMicrophone {
        targets.gain = .output(set: { control.monitorGain = $0 }, hasBacking: hasBacking)
      }
    }
    let isUnheard = place == .output && !playsMicrophone
    return MicrophoneKeys(targets, from: isUnheard ? 0 : gain.decibels)
  }

  /// Prints the summary with the additional `fields` of the command. Returns the exit status.
  func conclude(_ name: String, _ fields: Fields, sentence: String?) -> ExitStatus {
    let report = recording?.writer.report
    return outcome.conclude(
      CommandSummary(
        command: name, recorded: report, failure: progress?.failure, notice: failureNotice,
        fields: fields + (recording?.summary.fields ?? [:]), sentence: sentence))
  }

  /// The report of the failure of a file before the summary.
  private var failureNotice: CommandSummary.FailureNotice {
    let failure = recording?.writer.report.failure
    if failure == nil, progress?.announces == true { return .error }
    return recording?.watch.hasWarned(of: failure) == true ? .warning : .none
  }
}
