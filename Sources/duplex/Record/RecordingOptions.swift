import ArgumentParser
import AudioFiles
import AudioSessions
import VoiceCleaning

/// The options of whatever records.
struct RecordingOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Start a new file at a size (100M), a time (10:00) or each pause (silence). Files are "
        + "numbered, or named by strftime: note-%Y%m%d-%H%M%S.wav.", valueName: "size|time|silence")
  )
  var split: SplitOption?

  @Option(
    help: ArgumentHelp(
      "With --split, delete this run's oldest files beyond a number of files (24), a size (2G) or an "
        + "age (7d).", valueName: "n|size|age"))
  var keep: KeepOption?

  @Option(
    help: ArgumentHelp(
      "Run this shell command after each file. $1 is the file's path; without a $ the path is added at "
        + "the end. If the command fails, the recording goes on.",
      valueName: "command"))
  var onFile: String?

  @Option(
    help: ArgumentHelp(
      "Flush to disk at least this often.", valueName: "time"))
  var sync = TimeOption.seconds(1)

  @Option(
    help: ArgumentHelp(
      "Length of the ring buffer between the audio thread and the disk: a disk that stalls for longer loses "
        + "frames. (default: 12, at most 256 MiB)",
      valueName: "time"))
  var ring: TimeOption?

  @OptionGroup(title: "When to record") var start: StartOptions
  @OptionGroup(title: "Tags") var tags: TagOptions
  @OptionGroup(title: "Voice") var cleaning: CleaningOptions

  func validate() throws {
    try checkTimes(at: nil)
    if let onFile, onFile.allSatisfy(\.isWhitespace) {
      throw ValidationError("--on-file names no command.")
    }
    guard keep == nil || split != nil else {
      throw ValidationError("--keep removes old files of a split recording: say --split as well.")
    }
    switch keep {
    case .files(let count) where count < 1:
      throw ValidationError("--keep \(count) would keep nothing: 1 is the least.")
    case .bytes(let count) where count < 1:
      throw ValidationError("--keep of \(count) bytes would keep nothing.")
    case .seconds(let seconds) where seconds <= 0:
      throw ValidationError("--keep of no time would keep nothing.")
    default: break
    }
    guard start.voiceActivated || split == .silence || start.threshold == nil else {
      throw ValidationError("--threshold is for voices: say --voice-activated as well.")
    }
    guard cleaning.raw == nil || !cleaning.isNone else {
      throw ValidationError(
        "--raw keeps what was not cleaned: say --denoise, --agc, --dereverb, --echo-cancel or "
          + "--high-pass as well.")
    }
  }

  /// Refuses times that are too short or too long, those in frames once the rate is known.
  private func checkTimes(at rate: Int?) throws(ValidationError) {
    for (name, time, range) in [
      ("sync", sync, 0.001...86400), ("ring", ring, 0.1...600),
      ("pre-roll", start.preRoll, 0...600), ("hold", start.hold, 0...60),
      ("tail", start.tail, 0...60), ("auto-gain-check", start.autoGainCheck, 0...600),
    ] as [(String, TimeOption?, ClosedRange<Double>)] {
      guard let time else { continue }
      if rate == nil, case .frames = time { continue }
      guard range.contains(time.seconds(at: rate ?? 1)) else {
        throw ValidationError(
          "--\(name) takes \(range.lowerBound.shown(3)) to \(range.upperBound.shown(0)) s, as 1.5, "
            + "500ms or 48000f.")
      }
    }
    // Where only one of the two is in frames, the rate must be known to compare them.
    guard let tail = start.tail, rate != nil || tail.isSeconds == start.hold.isSeconds else {
      return
    }
    guard tail.seconds(at: rate ?? 1) <= start.hold.seconds(at: rate ?? 1) else {
      throw ValidationError("--tail cannot be longer than --hold.")
    }
  }

  /// Whether nothing is asked for.
  var isPlain: Bool {
    split == nil && keep == nil && onFile == nil && sync == .seconds(1) && ring == nil
      && start.isPlain && tags.tags == SoundFileTags() && cleaning.isNone && cleaning.raw == nil
  }

  /// What they come to for a take of `duration` at `rate` frames a second.
  func settings(_ duration: TimeOption?, at rate: Int) throws(ToolFailure) -> RecordingSettings {
    do throws(ValidationError) {
      try checkTimes(at: rate)
    } catch {
      throw ToolFailure(
        .usage, code: "usage", error.message, hint: "Frames count at \(rate) a second here.")
    }
    var settings = RecordingSettings()
    settings.tags = tags.tags
    settings.split = split
    settings.keep = keep
    settings.onFile = onFile
    settings.syncSeconds = sync.seconds(at: rate)
    settings.ringSeconds = ring?.seconds(at: rate)
    settings.checkSeconds = start.autoGainCheck?.seconds(at: rate) ?? 0
    settings.preRollSeconds = start.preRoll?.seconds(at: rate)
    settings.voice = start.voice(at: rate)
    settings.isVoiceActivated = start.voiceActivated
    settings.cleaning = cleaning.settings
    settings.cancelsEcho = cleaning.echoCancel
    settings.rawPath = cleaning.raw
    settings.duration = duration
    return settings
  }
}

/// When what is heard is kept.
struct StartOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Start the recording with the space bar or Enter (or a voice), and keep this much of the sound before "
        + "it.",
      valueName: "time"))
  var preRoll: TimeOption?

  @Flag(help: "Record only while there is a voice, and leave out the pauses.")
  var voiceActivated = false

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Level above which sound counts as a voice. (default: relative to the noise floor)",
      valueName: "db"))
  var threshold: LevelOption?

  @Option(
    help: ArgumentHelp("Pauses up to this length do not end a phrase.", valueName: "time"))
  var hold = TimeOption.seconds(1)

  @Option(
    help: ArgumentHelp(
      "Silence to keep after each phrase. (default: 0.5, at most --hold)", valueName: "time"))
  var tail: TimeOption?

  @Option(
    help: ArgumentHelp(
      "Measure the level for this long before the recording starts, and say whether it is too low or too "
        + "high.",
      valueName: "time"))
  var autoGainCheck: TimeOption?

  func validate() throws {
    if let threshold, threshold.decibels > 0 {
      throw ValidationError("Nothing is louder than a --threshold above 0 dBFS.")
    }
  }

  /// Whether nothing is asked for.
  var isPlain: Bool {
    preRoll == nil && !voiceActivated && threshold == nil && hold == .seconds(1) && tail == nil
      && autoGainCheck == nil
  }

  /// How voices are told from silence.
  func voice(at rate: Int) -> RecordingSettings.VoiceOptions {
    let hold = hold.seconds(at: rate)
    return RecordingSettings.VoiceOptions(
      thresholdDBFS: threshold?.decibels, holdSeconds: hold,
      tailSeconds: tail?.seconds(at: rate) ?? min(0.5, hold))
  }
}

/// What a file says of itself.
struct TagOptions: ParsableArguments {
  @Option(help: ArgumentHelp("Tag: title.", valueName: "text"))
  var title: String?
  @Option(help: ArgumentHelp("Tag: artist.", valueName: "text"))
  var artist: String?
  @Option(help: ArgumentHelp("Tag: comment.", valueName: "text"))
  var comment: String?
  @Option(help: ArgumentHelp("Tag: date, as free text.", valueName: "text"))
  var date: String?

  /// The same for a file.
  var tags: SoundFileTags {
    var tags = SoundFileTags()
    tags.title = title.map(FileName.shown)
    tags.artist = artist.map(FileName.shown)
    tags.comment = comment.map(FileName.shown)
    tags.date = date.map(FileName.shown)
    return tags
  }
}

/// What is done to a voice on its way to the file; what is heard stays as it is.
struct CleaningOptions: ParsableArguments {
  @Flag(help: "Remove steady noise from voices.")
  var denoise = false
  @Flag(help: "Automatic gain control: bring voices to an even level.")
  var agc = false
  @Flag(help: "Reduce the reverberation of the room.")
  var dereverb = false
  @Flag(help: "Echo cancellation: remove what the microphone picks up of the playback (--mix).")
  var echoCancel = false
  @Option(
    help: ArgumentHelp("High-pass filter: remove rumble below this frequency.", valueName: "hz"))
  var highPass: FrequencyOption?
  @Option(
    help: ArgumentHelp("Record the unprocessed sound to this file as well.", valueName: "file"))
  var raw: String?

  /// Whether nothing is asked for.
  var isNone: Bool { settings.isNone && !echoCancel }

  /// What they come to, without the echo.
  var settings: CleaningSettings {
    CleaningSettings(
      denoise: denoise, automaticGain: agc, dereverb: dereverb, highPassHertz: highPass?.hertz,
      echo: nil)
  }
}
