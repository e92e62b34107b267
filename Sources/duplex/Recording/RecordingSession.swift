import AudioBasics
import AudioDevices
import AudioFiles
import AudioSessions
import Duplex

/// A recording within a session: its writer, its part in the watch of the session, and its summary.
struct RecordingSession {
  let writer: RecordingWriter
  let watch: RecordingWatch
  /// The maximum length of the session in frames; nil if the options determine it.
  let frameLimit: Int?
  /// The number of frames before the recording in which its level is checked.
  var checkFrames: Int { plan.checkFrames }
  private let plan: RecordingPlan
  private let recordsMix: Bool
  private let hasRaw: Bool

  /// Creates the files for the microphone, or with `recordsMix` for the output, as the options
  /// request.
  init(
    _ target: RecordingTarget, _ options: RecordingOptions, _ audio: AudioOptions,
    _ configuration: DuplexConfiguration, _ clock: SessionClock, recordsMix: Bool
  ) throws {
    self.recordsMix = recordsMix
    let sampleRate = configuration.sampleRate
    let stream = recordsMix ? configuration.playback : configuration.capture
    plan = try options.plan(target, stream, sampleRate: sampleRate, clock)
    // If no keys can be read, the recording does not wait for one.
    let isStarted = options.start.preRoll != nil && !options.start.voiceActivated
    let waits = isStarted && (Terminal.hasKeyboard || Terminal.isPiped)
    if isStarted, !waits {
      warn("noKeyboard", "Standard input is not a terminal: the recording starts without a key.")
    }
    writer = try options.writer(
      plan, configuration, duration: audio.duration, startsAtOnce: !waits)
    watch = RecordingWatch(
      writer, configuration, plan, recordsMix: recordsMix, waits: waits)
    // The duration of a recording that waits counts from its start, so its gate determines the end.
    let check = plan.checkFrames
    frameLimit =
      waits ? .max : audio.duration.map { $0.frameCount(at: sampleRate) + check }
    hasRaw = options.cleaning.raw != nil
  }

  /// Installs the recorders, which run on the audio thread, in `callbacks`, and the writer, the
  /// watch and the length of the recording in `parts`.
  func install(on callbacks: inout Mixer, _ parts: inout SessionParts) {
    if recordsMix {
      callbacks.outputRecorder = writer.takeRecorder()
    } else {
      callbacks.inputRecorder = writer.takeRecorder()
    }
    callbacks.echoReferenceRecorder = writer.takeEchoReferenceRecorder()
    parts.background.append(writer)
    parts.frameLimit = frameLimit
    parts.recording = watch
  }

  /// The summary of the recording.
  var summary: RecordingSummary {
    RecordingSummary(
      report: writer.report, plan: plan, hasRaw: hasRaw, wasNeverStarted: watch.isWaiting)
  }
}
