import AudioDevices
import AudioFiles
import AudioSessions
import RealtimeAudio

/// A recording of an engine. It continues after a change of device, with silence for the time
/// between, until it is stopped or the engine stops.
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
  /// The requested file, or the pattern of the names of several files, see `RecordingPlan.path`. A
  /// file of that name that another program or engine creates first is not replaced: the recording
  /// then gets a number, and `files` in `report` contains the actual name.
  public let path: String
  /// The settings of the recording.
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

  /// The result of the recording; nil until it is complete. A full disk does not end the engine's
  /// run: it is the `failure` of the report.
  public var report: RecordingReport? { state.withLock { $0.report } }

  /// Returns the events since the last call: files begun and finished, markers, warnings. If there
  /// are more than 10,000, only the newest are returned, at least 5,000.
  public func takeEvents() -> [RecordingEvent] { writer?.events.take() ?? [] }

  /// Begins to keep the audio if the gate waits for this call, as `WindowGate(preRollFrames:)`
  /// does; without the call such a recording is empty. Does nothing before the engine runs.
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

  /// Continues in the next file. Does nothing before the engine runs.
  public func split() { ask(.split) }

  /// Sets a marker at the current position. Does nothing before the engine runs.
  public func mark(_ label: String = "") { ask(.mark(label)) }

  /// Stops keeping the audio until `resume`. Does nothing before the engine runs.
  public func pause() { ask(.pause) }

  /// Continues after a pause. Does nothing before the engine runs.
  public func resume() { ask(.resume) }

  /// Ends the recording, and returns when its files are complete.
  @discardableResult
  public func stop() async -> RecordingReport {
    engine.request(.endRecording(self))
    return await withCheckedContinuation { continuation in
      whenComplete { continuation.resume(returning: $0) }
    }
  }

  /// Ends the recording, and calls `then` on a thread of the engine when its files are complete.
  public func stop(then: @escaping @Sendable (RecordingReport) -> Void) {
    whenComplete(then)
    engine.request(.endRecording(self))
  }

  private func whenComplete(_ completion: @escaping @Sendable (RecordingReport) -> Void) {
    let report = state.withLock { state in
      if state.report == nil { state.waiting.append(completion) }
      return state.report
    }
    if let report { completion(report) }
  }

  private func ask(_ command: RecordingCommand) {
    writer?.control.ask(command, at: engine.status.frames)
  }

  private var writer: RecordingWriter? { state.withLock { $0.writer } }

  // MARK: The engine's thread

  /// Creates the files for the audio of `configuration`. Throws if the settings are invalid, if
  /// there is nothing to record, or if the files cannot be created.
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
          channelCount: plan.channelCount, periodFrames: configuration.periodFrames),
        gate: gate ?? WindowGate())
      state.withLock { $0.writer = made }
      return made
    } catch {
      throw .file(error)
    }
  }

  /// Stores `report` when the files are complete, and passes it to the waiting callers.
  func complete(_ report: RecordingReport) {
    let waiting = state.withLock { state in
      defer { state.waiting = [] }
      state.report = report
      return state.waiting
    }
    for completion in waiting { completion(report) }
  }
}
