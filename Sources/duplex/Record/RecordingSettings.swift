import AudioDevices
import AudioFiles
import AudioSessions
import VoiceCleaning

/// How the user wants a recording: what the options of a recording come to.
struct RecordingSettings {
  var tags = SoundFileTags()
  var split: SplitOption?
  var keep: KeepOption?
  var onFile: String?
  var syncSeconds = 1.0
  /// What a stalled disk may take before frames are lost.
  var ringSeconds: Double?
  var checkSeconds = 0.0
  /// Seconds before the start that are kept; nil where nothing is waited for.
  var preRollSeconds: Double?
  /// Whether only voices are kept.
  var isVoiceActivated = false
  /// How voices are told from silence.
  var voice = VoiceOptions(thresholdDBFS: nil, holdSeconds: 1, tailSeconds: 0.5)
  var cleaning = CleaningSettings.none
  var cancelsEcho = false
  var rawPath: String?
  /// How long the take is to be.
  var duration: TimeOption?

  /// Voice activation as asked for.
  struct VoiceOptions {
    var thresholdDBFS: Double?
    var holdSeconds: Double
    var tailSeconds: Double
  }

  /// How the recording is kept on disk.
  func plan(
    _ target: RecordingTarget, _ stream: StreamConfiguration?, sampleRate: Int,
    _ clock: SessionClock
  ) throws(ToolFailure) -> RecordingPlan {
    var plan = target.plan(stream, sampleRate: sampleRate, clock)
    plan.tags = tags
    plan.split = try rule(plan)
    plan.keep = keep.map(\.rule)
    plan.onFile = onFile
    plan.syncSeconds = syncSeconds
    plan.checkSeconds = checkSeconds
    plan.leavesSilenceOut = isVoiceActivated
    return plan
  }

  /// What is kept of what is heard. With `startsAtOnce` no key is waited for.
  func gate(_ plan: RecordingPlan, startsAtOnce: Bool) -> any RecordingGate {
    if isVoiceActivated || split == .silence {
      var settings = VoiceSettings(sampleRate: plan.sampleRate, channelCount: plan.channelCount)
      settings.preRollSeconds = preRollSeconds ?? settings.preRollSeconds
      settings.thresholdDBFS = voice.thresholdDBFS
      settings.holdSeconds = voice.holdSeconds
      settings.tailSeconds = voice.tailSeconds
      return VoiceGate(settings)
    }
    guard let preRollSeconds, !startsAtOnce else { return WindowGate(PunchWindow()) }
    return StartGate(
      preRollFrames: Int(clamping: preRollSeconds * Double(plan.sampleRate)),
      frames: duration?.frameCount(at: plan.sampleRate))
  }

  /// What is done to the sound; the canceller is told how late the output is heard.
  func cleaning(_ configuration: DuplexConfiguration) throws -> CleaningSettings {
    var settings = cleaning
    if cancelsEcho {
      let saved = try SavedRoundTrip.find(configuration)?.frames(for: configuration)
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
        throw Self.tooSmall("\(count) bytes")
      }
      return .bytes(count)
    case .time(let time):
      let frames = time.frameCount(at: plan.sampleRate)
      guard frames * 10 >= plan.sampleRate else { throw Self.tooSmall("\(frames) frames") }
      return .frames(frames)
    }
  }

  private static func tooSmall(_ size: String) -> ToolFailure {
    ToolFailure(
      .usage, code: "usage", "Files of \(size) are too small to split a recording into.",
      hint:
        "Give --split at least a tenth of a second: 10 or 1:30:00 are times, 48000f is a number "
        + "of frames, 100M is a size.")
  }
}

extension KeepOption {
  /// The recording's own word for it.
  fileprivate var rule: KeepRule {
    switch self {
    case .files(let count): .files(count)
    case .bytes(let count): .bytes(count)
    case .seconds(let seconds): .seconds(seconds)
    }
  }
}

extension RecordingWriter {
  /// The disk half of the recording that `settings` describe.
  convenience init(
    _ plan: RecordingPlan, _ settings: RecordingSettings, _ configuration: DuplexConfiguration,
    startsAtOnce: Bool
  ) throws {
    let rate = plan.sampleRate
    let cleaning = try settings.cleaning(configuration)
    let played = configuration.playback?.channelCount ?? 0
    let cleaner =
      cleaning.isNone
      ? nil : try VoiceCleaner(cleaning, sampleRate: rate, channelCount: plan.channelCount)
    try self.init(
      plan,
      ringFrames: try RecordingRing.frameCount(
        seconds: settings.ringSeconds, sampleRate: rate,
        channelCount: plan.channelCount + (cleaning.echo == nil ? 0 : played)),
      gate: try RecordingRing.checked(
        settings.gate(plan, startsAtOnce: startsAtOnce), plan,
        ringCount: settings.rawPath == nil ? 1 : 2),
      cleaner: cleaner,
      playedChannels: cleaning.echo == nil ? 0 : played,
      rawPath: settings.rawPath)
  }
}
