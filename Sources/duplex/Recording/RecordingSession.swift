import Duplex
import AudioBasics
import AudioDevices
import AudioFiles
import AudioSessions

/// A recording within a session: its writer, its part in the watch of the session, and its summary.
struct RecordingSession {
  let writer: RecordingWriter
  let watch: RecordingWatch
  /// The maximum length of the session in frames; nil if the options determine it.
  let frameLimit: Int?
  private let plan: RecordingPlan
  private let hasRaw: Bool

  /// Creates the files for the microphone, or with `recordsMix` for the output, as the options
  /// request.
  init(
    _ target: RecordingTarget, _ options: RecordingOptions, _ audio: AudioOptions,
    _ configuration: DuplexConfiguration, _ clock: SessionClock, recordsMix: Bool
  ) throws {
    let sampleRate = configuration.sampleRate
    let stream = recordsMix ? configuration.playback : configuration.capture
    plan = try options.plan(target, stream, sampleRate: sampleRate, clock)
    // If no keys can be read, the recording does not wait for one.
    let isStarted = options.start.preRoll != nil && !options.start.voiceActivated
    let waits = isStarted && (Terminal.hasKeyboard || Terminal.isPiped)
    if isStarted, !waits {
      warn("noKeyboard", "standard input is not a terminal: the recording starts without a key.")
    }
    writer = try options.writer(
      plan, configuration, duration: audio.duration, startsAtOnce: !waits)
    watch = RecordingWatch(
      writer, configuration, plan, recordsMix: recordsMix, waits: waits)
    let check = plan.checkFrames
    // The duration of a recording that waits counts from its start, so its gate determines the end.
    frameLimit =
      waits ? .max : audio.duration.map { $0.frameCount(at: sampleRate) + check }
    hasRaw = options.cleaning.raw != nil
  }

  /// Installs the recorders, which run on the audio thread, in `callbacks`.
  func install(on callbacks: inout Mixer, takesMix: Bool = false) {
    if takesMix {
      callbacks.mixRecorder = writer.takeRecorder()
    } else {
      callbacks.recorder = writer.takeRecorder()
    }
    callbacks.playedRecorder = writer.takePlayedRecorder()
  }

  /// The summary of the recording.
  var summary: RecordingSummary {
    RecordingSummary(
      report: writer.report, plan: plan, hasRaw: hasRaw, wasNeverStarted: watch.isWaiting)
  }
}

extension RecordingTarget {
  private static let tagHint = "FLAC, Ogg and WAV files hold all tags."

  /// Warns that a file cannot hold all of its tags.
  private func warnOfLoss(_ loss: SoundFileTags.Loss) {
    switch loss {
    case .text(let name):
      warn(
        "tagsLeftOut", "\(fileFormat.title) has no place for the \(name): it is left out.",
        hint: Self.tagHint)
    case .zero:
      warn(
        "tagsCut", "A tag cannot hold the character U+0000: it ends there.",
        hint: "Leave the character out.")
    case .date:
      warn(
        "tagsCut", "\(fileFormat.title) holds the year of a date only: the rest is left out.",
        hint: Self.tagHint)
    case .length:
      warn(
        "tagsCut", "\(fileFormat.title) cannot hold tags of this length: the tags are cut.",
        hint: "Use shorter tags, or record to FLAC or WAV.")
    }
  }

  /// Throws if options exclude each other, and warns about tags that the format cannot hold.
  func check(_ options: RecordingOptions, json: Bool) throws(ToolFailure) {
    try checkRaw(options.cleaning.raw)
    if options.split == nil, hasTime(path) {
      warn(
        "nameNotExpanded",
        "The file gets the name \(path) as it is written: only --split replaces %H and the like by the time.",
        hint: "Add --split for files that are named by their time.")
    }
    let tags = options.tags.tags
    if tags != SoundFileTags(), fileFormat == .w64 || fileFormat == .raw || isStream {
      warn(
        "tagsLeftOut",
        "\(isStream ? "a pipe" : fileFormat.title) cannot hold tags: they are left out.",
        hint: Self.tagHint)
    } else {
      for loss in tags.losses(in: fileFormat) { warnOfLoss(loss) }
    }
    guard isStream else { return }
    for (isAsked, sentence, option) in [
      (json, "Standard output cannot have both the recording and JSON events.", "--json"),
      (
        options.onFile != nil, "--on-file needs a file, and standard output is not a file.",
        "--on-file"
      ),
      (options.split != nil, "Standard output cannot be split into files.", "--split"),
    ] where isAsked {
      throw ToolFailure.usage(sentence, hint: "Leave out \(option), or name a file.")
    }
  }

  /// Returns whether a name contains a field of strftime for a date or a time. The percent sign
  /// after a number is one: `50%discount.wav`.
  private func hasTime(_ name: String) -> Bool {
    let characters = Array(name)
    return characters.indices.dropFirst().contains { index in
      characters[index - 1] == "%" && "YymdjHIMSsFTDR".contains(characters[index])
        && (index < 2 || !characters[index - 2].isNumber)
    }
  }

  /// Throws if `raw` cannot be the separate file for the unprocessed samples.
  private func checkRaw(_ raw: String?) throws(ToolFailure) {
    guard let raw else { return }
    guard raw != "-" else {
      throw ToolFailure.usage(
        "The unprocessed sound of --raw cannot go to standard output.",
        hint: "Name a file with --raw.")
    }
    guard FileLocation(of: raw) != FileLocation(of: path) else {
      throw ToolFailure.usage(
        "--raw has the same name as the recording.", hint: "Choose another name for --raw.")
    }
    guard overwrite || FileRemoval.byteCount(of: raw) == nil else {
      throw ToolFailure.exists(raw)
    }
  }
}

/// A command that records a microphone, plays it, or both, and may mix in files.
protocol MicrophoneCommand: AlsoPlayingCommand {
  var gain: Gain { get }
  var reconnection: ReconnectOption { get }
  var silence: SilenceStopOption { get }
  var recording: RecordingOptions { get }
  var protection: MonitorProtectionOptions { get }
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
  }

  /// Runs `command` on `open`. The microphone is played if `playsMicrophone` is true, and recorded
  /// to `target`, together with the mixed-in files if `recordsMix` is true. `items` are mixed in.
  init(
    _ command: some MicrophoneCommand, on open: consuming OpenDevice, _ place: GainPlace,
    playsMicrophone: Bool, target: RecordingTarget?, recordsMix: Bool = false, items: [QueueItem]
  ) throws {
    let configuration = open.configuration
    let clock = open.clock
    try command.protection.checkLookahead(at: configuration.sampleRate)
    var callbacks = Mixer(configuration)
    var parts = SessionParts()
    var recording: RecordingSession?
    if let target {
      let made = try RecordingSession(
        target, command.recording, command.audio, configuration, clock, recordsMix: recordsMix)
      made.install(on: &callbacks, takesMix: recordsMix)
      parts.background.append(made.writer)
      parts.frameLimit = made.frameLimit
      parts.recording = made.watch
      recording = made
    }
    let control = SessionControl()
    switch place {
    case .input: control.inputGain = command.gain
    case .output: control.monitorGain = command.gain
    }
    control.install(on: &callbacks, configuration, playsMicrophone: playsMicrophone)
    if playsMicrophone {
      parts.protection = command.protection.install(on: &callbacks, configuration)
    }
    let player = try callbacks.makePlayer(items, configuration)
    let progress = player.map { TrackProgress($0, reportsFailuresOnly: true) }
    parts.background += player?.background ?? []
    var targets = MicrophoneKeys.KeyTargets()
    targets.player = player
    targets.isOfOutput = place == .output
    targets.hasBacking = playsMicrophone && player != nil
    targets.pauseRecording = recording.map { made in { made.watch.pause($0, at: $1) } }
    switch place {
    case .input:
      targets.setGain = { control.inputGain = $0 }
      if targets.hasBacking { targets.setMonitorGain = { control.monitorGain = $0 } }
    case .output:
      if playsMicrophone { targets.setGain = { control.monitorGain = $0 } }
    }
    parts.microphoneKeys = MicrophoneKeys(
      targets, from: place == .output && !playsMicrophone ? 0 : command.gain.decibels)
    let silence = command.silence.follower(at: configuration.sampleRate)
    var meter: MeterView?
    if recording?.watch.measuresLevels != false {
      meter = callbacks.makeMeter(command.audio, configuration, isFollowed: silence != nil)
    }
    parts.reconnects = command.reconnection.isWanted(for: configuration)
    parts.poll = { [watch = parts.recording] moment in
      progress?.follow()
      if watch?.isWaiting == true { silence?.restart() }
      return silence?.poll(moment)
    }
    outcome = try SessionOutcome(running: open, callbacks, command.audio, meter: meter, parts)
    progress?.follow()
    self.progress = progress
    self.recording = recording
    protection = parts.protection
  }

  /// Prints the summary with the additional `fields` of the command. Returns the exit status.
  func conclude(_ name: String, _ fields: Fields, sentence: String?) -> ExitStatus {
    let report = recording?.writer.report
    return outcome.conclude(
      name, recorded: report, failure: progress?.failure,
      isReported: report?.failure == nil && progress?.announces ?? false,
      extra: fields + (recording?.summary.fields ?? [:]), sentence: sentence)
  }
}
