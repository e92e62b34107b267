import AudioDevices
import AudioFiles
import AudioSessions
import RealtimeAudio

/// A recording of an engine. It goes on over a change of device, with silence for the time between,
/// until it is stopped or the engine stops.
///
/// All calls may be made on any thread but the audio thread.
///
/// ```swift
/// let engine = DuplexEngine(device: "sim:clock=free,noise=-20")
/// let recording = try await engine.record(to: "take.wav")
/// try await engine.start()
/// recording.mark("verse")
/// let report = await recording.stop()
/// precondition(report.failure == nil)
/// await engine.stop()
/// ```
public final class EngineRecording: Sendable {
  /// The file that was asked for; of several the pattern of their names, see `RecordingPlan.path`.
  /// What another program or engine gives that name first is not replaced: the recording gets a
  /// number then, and `report` says in `files` which name it got.
  public let path: String
  /// How it is kept.
  public let settings: RecordingSettings

  private struct State {
    var writer: RecordingWriter?
    var report: RecordingReport?
    var waiting: [@Sendable (RecordingReport) -> Void] = []
  }

  private let state = MutexBox(State())
  private let engine: EngineWorker

  init(path: String, _ settings: RecordingSettings, _ engine: EngineWorker) {
    self.path = path
    self.settings = settings
    self.engine = engine
  }

  /// What became of it; nil while it is not complete. A full disk does not end the engine's run: it
  /// is the report's `failure`.
  public var report: RecordingReport? { state.withLock { $0.report } }

  /// What happened to it since the last time: files begun and finished, markers, warnings. Of more
  /// than 10,000 the newest are there, 5,000 at least.
  public func takeEvents() -> [RecordingEvent] { writer?.events.take() ?? [] }

  /// Begins to keep, where the gate waits for that, as `WindowGate(preRollFrames:)` does; the
  /// recording is empty otherwise. Does nothing before the engine runs.
  ///
  /// ```swift
  /// var settings = RecordingSettings()
  /// settings.gate = { sampleRate, _ in WindowGate(preRollFrames: sampleRate) }
  /// let engine = DuplexEngine(device: "sim:clock=free,noise=-20")
  /// let recording = try await engine.record(to: "kept.wav", settings)
  /// try await engine.start()
  /// recording.start()
  /// await engine.stop()
  /// precondition(recording.report?.failure == nil)
  /// ```
  public func start() { ask(.start) }

  /// Goes on in the next file. Does nothing before the engine runs.
  public func split() { ask(.split) }

  /// Marks the place that is captured now. Does nothing before the engine runs.
  public func mark(_ label: String = "") { ask(.mark(label)) }

  /// Keeps nothing until `resume`. Does nothing before the engine runs.
  public func pause() { ask(.pause) }

  /// Goes on after a pause. Does nothing before the engine runs.
  public func resume() { ask(.resume) }

  /// Ends it, and answers when its files are complete.
  @discardableResult
  public func stop() async -> RecordingReport {
    engine.order(.endRecording(self))
    return await withCheckedContinuation { continuation in
      whenComplete { continuation.resume(returning: $0) }
    }
  }

  /// Ends it, and has `then` told when its files are complete, on a thread of the engine.
  public func stop(then: @escaping @Sendable (RecordingReport) -> Void) {
    whenComplete(then)
    engine.order(.endRecording(self))
  }

  private func whenComplete(_ tell: @escaping @Sendable (RecordingReport) -> Void) {
    let report = state.withLock { state in
      if state.report == nil { state.waiting.append(tell) }
      return state.report
    }
    if let report { tell(report) }
  }

  private func ask(_ command: RecordingCommand) {
    writer?.remote.ask(command, at: engine.status.frames)
  }

  private var writer: RecordingWriter? { state.withLock { $0.writer } }

  // MARK: The engine's thread

  /// Makes the files of what `configuration` brings. Throws what making files throws.
  func begin(_ configuration: DuplexConfiguration, isVirtual: Bool) throws(EngineFailure)
    -> RecordingWriter
  {
    let stream = settings.source == .microphone ? configuration.capture : configuration.playback
    guard let stream else { throw .nothingToRecord(settings.source) }
    guard settings.ringSeconds > 0, settings.ringSeconds.isFinite else {
      throw .invalid("ringSeconds must be a finite number above 0: \(settings.ringSeconds) is not.")
    }
    guard let format = settings.fileFormat ?? FileFormat(pathExtensionOf: path) else {
      throw .unknownFormat(path: path)
    }
    var plan = RecordingPlan(
      path: path, fileFormat: format,
      sampleFormat: settings.sampleFormat ?? format.sampleFormat(delivered: stream.format),
      sampleRate: configuration.sampleRate, channelCount: stream.channelCount)
    plan.capturedFormat = stream.format
    plan.overwrite = settings.overwrite
    plan.inputs = engine.inputs
    plan.tags = settings.tags
    plan.split = settings.split
    plan.isVirtual = isVirtual
    plan.measuresLevels = settings.measuresLevels
    let gate = settings.gate?(plan.sampleRate, plan.channelCount)
    plan.leavesSilenceOut = gate != nil
    do throws(FileFailure) {
      let made = try RecordingWriter(
        plan,
        ringFrames: RecordingPlan.ringFrames(
          seconds: settings.ringSeconds, sampleRate: plan.sampleRate,
          channelCount: plan.channelCount),
        gate: gate ?? WindowGate())
      state.withLock { $0.writer = made }
      return made
    } catch {
      throw .file(error)
    }
  }

  /// Its files are complete: keeps `report`, and tells it to those who wait.
  func complete(_ report: RecordingReport) {
    let waiting = state.withLock { state in
      defer { state.waiting = [] }
      state.report = report
      return state.waiting
    }
    for tell in waiting { tell(report) }
  }
}
