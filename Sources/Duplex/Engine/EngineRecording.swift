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
/// let subscription = recording.addEventHandler { event in
///   if case .marker(let marker) = event { print("\(marker.label) at \(marker.frame)") }
/// }
/// recording.mark("verse")
/// let report = await recording.stop()
/// precondition(report.failure == nil && recording.state.frames == report.frames)
/// subscription.cancel()
/// await engine.stop()
/// ```
public final class EngineRecording: Sendable {
  /// The requested file, or the pattern of the names of several files, see `RecordingPlan.path`. A
  /// file of that name that another program or engine creates first is not replaced: the recording
  /// then gets a number, and `files` in `report` contains the actual name.
  public let path: String
  /// The settings of the recording.
  public let settings: RecordingSettings

  private struct Progress {
    var writer: RecordingWriter?
    var report: RecordingReport?
    var waiting: [@Sendable (RecordingReport) -> Void] = []
  }

  private let progress = MutexBox(Progress())
  private let listeners = EventSource<RecordingEvent>()
  private let engine: EngineWorker

  init(path: String, _ settings: RecordingSettings, _ engine: EngineWorker) {
    self.path = path
    self.settings = settings
    self.engine = engine
  }

  /// The result of the recording; nil until it is complete. A full disk does not end the engine's
  /// run: it is the `failure` of the report.
  public var report: RecordingReport? { progress.withLock { $0.report } }

  /// The length, size and levels so far, updated up to 20 times per second; after the end, those of
  /// the whole recording, and an empty state before the beginning. The end is known by `report`. In
  /// virtual time, the updates are at the same frames in each run.
  ///
  /// ```swift
  /// let engine = DuplexEngine(device: "sim:clock=free,noise=-20")
  /// let recording = try await engine.record(to: "loudness.wav")
  /// try await engine.run(seconds: 5)
  /// let levels = recording.state.levels
  /// precondition(levels.integratedLUFS != nil && levels == recording.report?.levels)
  /// ```
  public var state: RecordingState { writer?.events.state ?? RecordingState() }

  /// A stream of the events from now on: next files, complete files, markers, pauses, warnings. The
  /// newest 1,024 unread events are kept. It ends after the last event, when the recording is
  /// complete, or never began before its engine was released.
  ///
  /// ```swift
  /// let engine = DuplexEngine(device: "sim:clock=free,noise=-20")
  /// var settings = RecordingSettings()
  /// settings.split = .seconds(1)
  /// let recording = try await engine.record(to: "part-%02d.wav", settings)
  /// let events = recording.events
  /// try await engine.run(seconds: 3)
  /// var files = 0
  /// for await case .finished in events { files += 1 }
  /// precondition(files == 3)
  /// ```
  public var events: AsyncStream<RecordingEvent> { listeners.stream(keeping: 1024) }

  /// Calls `handler` with each event, on a thread of the engine, until the returned subscription is
  /// cancelled or the recording is complete. `start`, `stop` and all other requests wait for a
  /// handler that blocks: a handler that waits for the engine or for this recording never returns.
  /// The file does not wait: it is written by another thread, except in virtual time.
  @discardableResult
  public func addEventHandler(
    _ handler: @escaping @Sendable (RecordingEvent) -> Void
  ) -> EventSubscription {
    listeners.subscribe(handler)
  }

  /// Returns the events since the last call. If there are more than 10,000, only the newest are
  /// returned, at least 5,000.
  @available(*, deprecated, message: "Read `events`, or call `addEventHandler`.")
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
  public func start() { request(.start) }

  /// Continues in the next file. Does nothing before the engine runs.
  public func split() { request(.split) }

  /// Sets a marker at the current position. Does nothing before the engine runs.
  public func mark(_ label: String = "") { request(.mark(label)) }

  /// Stops keeping the audio until `resume`. Does nothing before the engine runs.
  public func pause() { request(.pause) }

  /// Continues after a pause. Does nothing before the engine runs.
  public func resume() { request(.resume) }

  /// Whether all files are complete, and only commands of `RecordingFileRules.onFile` still run.
  public var isWaitingForCommands: Bool { report == nil && writer?.isWaitingForOthers == true }

  /// Ends the wait for commands of `RecordingFileRules.onFile` as soon as all files are complete.
  /// The command that runs continues by itself; those that wait do not run. A `.warning` names each
  /// of their files. Does nothing before the engine runs.
  public func leaveCommands() { writer?.leaveCommands() }

  /// Ends the recording, and returns when its files are complete and the commands of
  /// `RecordingFileRules.onFile` have ended.
  @discardableResult
  public func stop() async -> RecordingReport {
    engine.request(.endRecording(self))
    return await withCheckedContinuation { continuation in
      whenComplete { continuation.resume(returning: $0) }
    }
  }

  /// Ends the recording, and calls `then` on a thread of the engine when its files are complete and
  /// the commands of `RecordingFileRules.onFile` have ended.
  public func stop(then: @escaping @Sendable (RecordingReport) -> Void) {
    whenComplete(then)
    engine.request(.endRecording(self))
  }

  private func whenComplete(_ completion: @escaping @Sendable (RecordingReport) -> Void) {
    let report = progress.withLock { progress in
      if progress.report == nil { progress.waiting.append(completion) }
      return progress.report
    }
    if let report { completion(report) }
  }

  private func request(_ command: RecordingCommand) {
    writer?.control.request(command, at: engine.status.frames)
  }

  private var writer: RecordingWriter? { progress.withLock { $0.writer } }

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
    let plan = plan(format, stream, configuration, isVirtual: isVirtual)
    let gate = settings.gate?(plan.sampleRate, plan.channelCount)
    do throws(FileFailure) {
      let made = try RecordingWriter(
        plan,
        ringFrames: RecordingPlan.ringFrames(
          seconds: settings.ringSeconds, sampleRate: plan.sampleRate,
          channelCount: plan.channelCount, periodFrames: configuration.periodFrames),
        gate: gate ?? WindowGate())
      made.events.forward()
      made.events.requestState()
      progress.withLock { $0.writer = made }
      return made
    } catch {
      throw .file(error)
    }
  }

  /// Returns the plan of the files for the audio of `stream`.
  private func plan(
    _ format: FileFormat, _ stream: StreamConfiguration, _ configuration: DuplexConfiguration,
    isVirtual: Bool
  ) -> RecordingPlan {
    var plan = RecordingPlan(
      path: path, fileFormat: format,
      sampleFormat: settings.sampleFormat ?? format.sampleFormat(delivered: stream.format),
      sampleRate: configuration.sampleRate, channelCount: stream.channelCount)
    plan.capturedFormat = stream.format
    plan.fileRules = settings.fileRules
    plan.inputs = engine.inputs
    plan.isVirtual = isVirtual
    plan.measuresLevels = settings.measuresLevels
    plan.leavesSilenceOut = settings.gate != nil
    return plan
  }

  /// Passes the events since the last call to the streams and handlers.
  func deliverEvents() {
    for event in writer?.events.takeForwarded() ?? [] { listeners.send(event) }
  }

  /// Stores `report` when the files are complete, ends the streams of events, and passes the report
  /// to the waiting callers.
  func complete(_ report: RecordingReport) {
    deliverEvents()
    let waiting = progress.withLock { progress in
      defer { progress.waiting = [] }
      progress.report = report
      return progress.waiting
    }
    listeners.finish()
    for completion in waiting { completion(report) }
  }
}
