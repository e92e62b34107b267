import ArgumentParser
import AudioBasics
import AudioDevices
import AudioFiles
import AudioSessions
import RealtimeAudio
import VoiceCleaning

/// The options of all commands that record.
struct RecordingOptions: ParsableArguments {
  @Option(
    help: .init(
      "Start a new file at a size (100M), a time (10:00) or each pause (silence, also without a value). Files are "
        + "numbered, or named by strftime: note-%Y%m%d-%H%M%S.wav.", valueName: "size|time|silence")
  )
  var split: SplitOption?

  @Option(
    help: .init(
      "With --split: keep this many files (24), this size (2G) or this "
        + "age (7d), and delete this run's older files.", valueName: "n|size|age"))
  var keep: KeepRule?

  @Option(
    help: .init(
      "Run this shell command after each file. $1 is the file's path; without a $ the path is added at "
        + "the end. If the command fails, the recording continues.",
      valueName: "command"))
  var onFile: String?

  @Option(help: .init("Flush the file to disk at least this often.", valueName: "time"))
  var sync = TimeOption.seconds(1)

  @Option(
    help: .init(
      "Length of the ring buffer between the audio thread and the disk: frames are lost if the disk stalls "
        + "for longer. (default: 12s, at most 256 MiB)",
      valueName: "time"))
  var ring: TimeOption?

  @Option(
    help: .init(
      "Measure levels, loudness and true peak, and show them: on or off. Off takes less processor time.",
      valueName: "on|off"))
  var levels = Switch.on

  @OptionGroup(title: "When to record") var start: StartOptions
  @OptionGroup(title: "Tags") var tags: TagOptions
  @OptionGroup(title: "Voice") var cleaning: CleaningOptions

  func validate() throws {
    try checkTimes(at: nil)
    if let onFile, onFile.allSatisfy(\.isWhitespace) {
      throw ValidationError("--on-file names no command.")
    }
    try require(
      keep == nil || split != nil,
      "--keep removes old files of a split recording: add --split.")
    switch keep {
    case .files(let count) where count < 1:
      throw ValidationError("--keep \(count) would keep nothing: use 1 file or more.")
    case .bytes(let count) where count < 1:
      throw ValidationError(
        "--keep of \(count.counted("byte")) would keep nothing: use a size such as 2G.")
    case .seconds(let seconds) where seconds <= 0:
      throw ValidationError("--keep of 0 s would keep nothing: use an age such as 7d.")
    default: break
    }
    try require(
      start.voiceActivated || split == .silence || start.threshold == nil,
      "--threshold needs --voice-activated or --split silence.")
    try require(
      levels == .on || start.autoGainCheck == nil,
      "--auto-gain-check measures levels: leave out --levels off.")
    try require(
      cleaning.raw == nil || !cleaning.isNone,
      "--raw records the sound before processing: add --denoise, --agc, --dereverb, "
        + "--echo-cancel or --high-pass.")
  }

  /// Throws if a time is too short or too long. Times in frames are checked only if the rate is
  /// given.
  func checkTimes(at rate: Int?) throws(ValidationError) {
    for (name, time, range) in [
      ("sync", sync, 0.001...86400), ("ring", ring, 0.1...600),
      ("pre-roll", start.preRoll, 0...600), ("hold", start.hold, 0...60),
      ("tail", start.tail, 0...60), ("auto-gain-check", start.autoGainCheck, 0...600),
    ] as [(String, TimeOption?, ClosedRange<Double>)] {
      guard let time else { continue }
      if rate == nil, case .frames = time { continue }
      try require(
        range.contains(time.seconds(at: rate ?? 1)),
        "--\(name) must be \(range.boundsText) s, such as 1.5, 500ms or 48000f.")
    }
    // If only one of the two times is in frames, comparing them needs the rate.
    guard let tail = start.tail, rate != nil || tail.isSeconds == start.hold.isSeconds else {
      return
    }
    try require(
      tail.seconds(at: rate ?? 1) <= start.hold.seconds(at: rate ?? 1),
      "--tail must not be longer than --hold.")
  }

  /// Throws if an option depends on levels, and these are off.
  func check(_ silence: SilenceStopOption) throws(ValidationError) {
    try require(
      levels == .on || silence.stopAfterSilence == nil,
      "--stop-after-silence follows levels: leave out --levels off.")
  }

  /// Whether all options have their default values.
  var isPlain: Bool {
    split == nil && keep == nil && onFile == nil && sync == .seconds(1) && ring == nil
      && levels == .on
      && start.isPlain && tags.tags == SoundFileTags() && cleaning.isNone && cleaning.raw == nil
  }
}

/// The options for the start of a recording, its voice activation and the level check before it.
struct StartOptions: ParsableArguments {
  @Option(
    help: .init(
      "Wait for space or Enter (or a voice) to start the recording, and keep this much of the sound before "
        + "it.",
      valueName: "time"))
  var preRoll: TimeOption?

  @Flag(help: "Record only while there is a voice: pauses are left out.")
  var voiceActivated = false

  @Option(
    parsing: .unconditional,
    help: .init(
      "Level in dBFS above which sound counts as a voice. (default: relative to the noise floor)",
      valueName: "db"))
  var threshold: LevelOption?

  @Option(help: .init("Pauses up to this length do not end a phrase.", valueName: "time"))
  var hold = TimeOption.seconds(1)

  @Option(
    help: .init(
      "Silence to keep after each phrase. (default: 0.5s, at most --hold)", valueName: "time"))
  var tail: TimeOption?

  @Option(
    help: .init(
      "Measure the level for this long before the recording starts, and say whether it is too low or too "
        + "high.",
      valueName: "time"))
  var autoGainCheck: TimeOption?

  func validate() throws {
    try require(
      threshold.map { LevelOption.decibelRange.contains($0.decibels) } ?? true,
      "--threshold must be \(LevelOption.decibelRange.boundsText) dBFS, such as -40.")
  }

  /// Whether all options have their default values.
  var isPlain: Bool {
    preRoll == nil && !voiceActivated && threshold == nil && hold == .seconds(1) && tail == nil
      && autoGainCheck == nil
  }
}

/// The options for the tags of a file.
struct TagOptions: ParsableArguments {
  @Option(help: .init("Tag: title.", valueName: "text"))
  var title: String?
  @Option(help: .init("Tag: artist.", valueName: "text"))
  var artist: String?
  @Option(help: .init("Tag: comment.", valueName: "text"))
  var comment: String?
  @Option(help: .init("Tag: date, as free text.", valueName: "text"))
  var date: String?

  /// Whether a tag has bytes that are not UTF-8, which are replaced.
  var isReplaced: Bool {
    [title, artist, comment, date].contains { $0.map { FileName.shown($0) != $0 } ?? false }
  }

  /// The tags for a file.
  var tags: SoundFileTags {
    var tags = SoundFileTags()
    tags.title = title.map(FileName.shown)
    tags.artist = artist.map(FileName.shown)
    tags.comment = comment.map(FileName.shown)
    tags.date = date.map(FileName.shown)
    return tags
  }
}

/// The options for cleaning a voice in the recorded file; the played signal is not processed.
struct CleaningOptions: ParsableArguments {
  @Flag(help: "Remove steady noise from voices.")
  var denoise = false
  @Flag(help: "Automatic gain control: bring voices to -20 dBFS, and leave pauses as they are.")
  var agc = false
  @Flag(help: "Reduce the reverberation of the room.")
  var dereverb = false
  @Flag(help: "Echo cancellation: remove what the microphone picks up of the playback (--mix).")
  var echoCancel = false
  @Option(help: .init("High-pass filter: remove rumble below this frequency.", valueName: "hz"))
  var highPass: FrequencyOption?
  @Option(
    help: .init(
      "Record the unprocessed sound to this file as well, in the format of its extension.",
      valueName: "file"))
  var raw: String?

  /// Whether no processing is requested.
  var isNone: Bool { settings.isNone && !echoCancel }

  /// The settings that result from the options, without echo cancellation.
  var settings: CleaningSettings {
    CleaningSettings(
      denoise: denoise, automaticGain: agc, dereverb: dereverb, highPassHertz: highPass?.hertz,
      echo: nil)
  }
}

extension RecordingOptions {
  /// Returns the plan for storing the recording. Throws if a time does not fit the sample rate.
  func plan(
    _ target: RecordingTarget, _ stream: StreamConfiguration?, sampleRate: Int,
    _ clock: SessionClock
  ) throws(ToolFailure) -> RecordingPlan {
    do throws(ValidationError) {
      try checkTimes(at: sampleRate)
    } catch {
      throw ToolFailure.usage(
        error.message, hint: "A time in frames is counted at \(sampleRate) Hz here.")
    }
    var plan = target.plan(stream, sampleRate: sampleRate, clock)
    plan.tags = tags.tags
    plan.split = try rule(plan)
    plan.keep = keep
    plan.onFile = onFile
    plan.reportsCommandOutput = Terminal.isLive
    plan.syncSeconds = sync.seconds(at: sampleRate)
    plan.checkSeconds = start.autoGainCheck?.seconds(at: sampleRate) ?? 0
    plan.leavesSilenceOut = start.voiceActivated
    plan.measuresLevels = levels == .on
    return plan
  }

  /// Creates the writer of a recording of `duration`. With `startsAtOnce` it does not wait for a
  /// key.
  func writer(
    _ plan: RecordingPlan, _ configuration: DuplexConfiguration, duration: TimeOption?,
    startsAtOnce: Bool
  ) throws -> RecordingWriter {
    let rate = plan.sampleRate
    let settings = try cleaning(configuration)
    let played = settings.echo == nil ? 0 : configuration.playback?.channelCount ?? 0
    let cleaner =
      settings.isNone
      ? nil : try VoiceCleaner(settings, sampleRate: rate, channelCount: plan.channelCount)
    // The ring buffer takes megabytes: before that, the code that chose the file is released.
    MemoryLock.releaseStartUpCode()
    return try RecordingWriter(
      plan,
      ringFrames: try RecordingRing.frameCount(
        seconds: ring?.seconds(at: rate), sampleRate: rate,
        channelCount: plan.channelCount + played, periodFrames: configuration.periodFrames),
      gate: try RecordingRing.checked(
        gate(plan, duration: duration, startsAtOnce: startsAtOnce), plan,
        ringCount: cleaning.raw == nil ? 1 : 2),
      cleaner: cleaner, playedChannels: played, rawPath: cleaning.raw)
  }

  /// Returns the gate that selects the frames to be recorded.
  private func gate(
    _ plan: RecordingPlan, duration: TimeOption?, startsAtOnce: Bool
  ) -> any RecordingGate {
    let rate = plan.sampleRate
    let preRoll = start.preRoll?.seconds(at: rate)
    if start.voiceActivated || split == .silence {
      var settings = VoiceSettings(sampleRate: rate, channelCount: plan.channelCount)
      settings.preRollSeconds = preRoll ?? settings.preRollSeconds
      settings.thresholdDBFS = start.threshold?.decibels
      settings.holdSeconds = start.hold.seconds(at: rate)
      settings.tailSeconds = start.tail?.seconds(at: rate) ?? min(0.5, settings.holdSeconds)
      return VoiceGate(settings)
    }
    guard let preRoll, !startsAtOnce else { return WindowGate(PunchWindow()) }
    return WindowGate(
      preRollFrames: Int(clamping: preRoll * Double(rate)),
      frames: duration?.frameCount(at: rate))
  }

  /// Returns the settings of the processing. The echo canceller receives the delay from output to
  /// input.
  private func cleaning(_ configuration: DuplexConfiguration) throws -> CleaningSettings {
    var settings = cleaning.settings
    if cleaning.echoCancel {
      let saved = try SavedRoundTrip.find(configuration)?.frames(for: configuration)
      if saved == nil {
        inform(
          "noRoundTrip",
          "no round trip is saved for this device and period: the echo is expected right after the latency of the buffers. "
            + "`duplex latency --save` measures it.")
      }
      settings.echo = EchoSettings(
        delayFrames: Int(rounding: saved ?? configuration.latencyFrames))
    }
    return settings
  }

  private func rule(_ plan: RecordingPlan) throws(ToolFailure) -> SplitRule? {
    switch split {
    case nil: return nil
    case .silence: return .silence
    case .bytes(let count):
      let second = plan.sampleRate * plan.channelCount * plan.sampleFormat.byteCount
      guard count >= SoundFileWriter.headerByteCount + second / 10 else {
        throw Self.tooSmall(count.counted("byte"))
      }
      return .bytes(count)
    case .time(let time):
      let frames = time.frameCount(at: plan.sampleRate)
      guard frames * 10 >= plan.sampleRate else { throw Self.tooSmall(frames.counted("frame")) }
      return .frames(frames)
    }
  }

  private static func tooSmall(_ size: String) -> ToolFailure {
    ToolFailure.usage(
      "A recording cannot be split into files of \(size): that is less than a tenth of a second.",
      hint:
        "Use a longer time, such as --split 10 (seconds), 1:30:00 or 48000f (frames), or a larger size, such as 100M."
    )
  }
}
