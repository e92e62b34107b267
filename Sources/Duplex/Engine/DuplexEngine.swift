import AudioBasics
import AudioDevices
import AudioSessions
import RealtimeAudio

/// An engine for sound devices: it plays and records the microphone, applies effects, and plays the
/// queue of a player, at the lowest latency that the devices allow.
///
/// ```swift
/// let engine = DuplexEngine(device: "sim:clock=free,noise=-20")
/// try await engine.record(to: "note.wav")
/// let report = try await engine.run(seconds: 10)
/// precondition(report.frames == 480_000)
/// ```
///
/// All calls may be made on any thread or actor but the audio thread. Slow operations, such as
/// opening a device that does not respond, run on a thread of the engine, on which handlers are
/// called as well. No call blocks, with two exceptions: `remove` waits for one cycle of the audio
/// thread, as does an `insert` meanwhile, and the release of the last reference to a running engine
/// waits until its devices are closed and its files are complete. Recordings, effects, gains and
/// the player's queue are kept when `use` changes the devices. The end of a run also waits for the
/// commands of `RecordingFileRules.onFile`, unless `EngineRecording.leaveCommands` is called.
public final class DuplexEngine: Sendable {
  let worker: EngineWorker
  let thread: EngineThread

  /// Creates an engine on one device for both directions, which `start` opens. `default` is the
  /// default device of the system; `sim` needs no hardware.
  public convenience init(device: String = "default", _ settings: Settings = Settings()) {
    self.init(DeviceSelection(device: device), settings)
  }

  /// Creates an engine on an input, an output, or both; nil for a direction that is not used.
  public convenience init(input: String?, output: String?, _ settings: Settings = Settings()) {
    self.init(DeviceSelection(input: input, output: output), settings)
  }

  /// Creates an engine on the devices of `selection`.
  public init(_ selection: DeviceSelection, _ settings: Settings = Settings()) {
    worker = EngineWorker(selection, settings)
    thread = EngineThread(worker)
  }

  deinit { thread.end() }

  // MARK: Running

  /// Opens the devices and returns when audio runs, or at once if it already runs. Throws
  /// `EngineFailure` if a device or the file of a recording cannot be opened; in this case nothing
  /// runs; and `.alreadyRunning` while the engine measures a round trip.
  ///
  /// Before audio runs, the first second of the player's queue is read, from sources that open at
  /// once (`QueueItem.Part.takesTime`): `start` has no limit for a disk, a pipe or a decoder whose
  /// `read` blocks. A decoder whose `isReady` returns false is not read, and not waited for.
  /// `stop`, and the cancellation of `run`, end the wait within 1/4 s, and `start` throws
  /// `.stopped`. In virtual time they cannot, because one thread does all the work: use no decoder
  /// there that blocks.
  @discardableResult
  public func start() async throws(EngineFailure) -> DuplexConfiguration {
    let result = await withCheckedContinuation { continuation in
      start(seconds: nil) { continuation.resume(returning: $0) }
    }
    return try result.get()
  }

  /// Starts the engine without waiting. `reply` is called with the result on a thread of the
  /// engine.
  public func start(
    then reply: @escaping @Sendable (Result<DuplexConfiguration, EngineFailure>) -> Void
  ) {
    start(seconds: nil, reply)
  }

  /// Starts the engine, stops it after `seconds` of the timeline (at once if they are below 0 or
  /// not a number), and returns when all files are complete; also if it was stopped earlier. The
  /// cancellation of the task stops the engine as well, even while devices are being opened. Throws
  /// like `start`, and `.stopped` if `stop` was called before audio ran, and `.alreadyRunning` if
  /// the engine runs.
  ///
  /// A device that fails while audio runs ends the run, unless `reconnects` is set, but throws
  /// nothing, because the report and the files are there: check `failure` of the report. The event
  /// `.timeline` of the kind `.deviceLost` is sent before `.stopped`.
  @discardableResult
  public func run(seconds: Double) async throws(EngineFailure) -> SessionReport {
    // A run that another caller has started, before or afterwards, is not stopped.
    let ownStart = MutexBox<Int?>(nil)
    let result: Result<SessionReport, EngineFailure> = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let start = start(seconds: seconds) { [worker] started in
          switch started {
          case .failure(let failure): continuation.resume(returning: .failure(failure))
          // Audio runs: this is the end of this run, not of a later one.
          case .success:
            worker.whenStopped {
              continuation.resume(returning: .success($0 ?? SessionReport()))
            }
          }
        }
        guard let start else { return }
        ownStart.withLock { $0 = start }
        // The task was cancelled before there was a start to stop.
        if Task.isCancelled { worker.request(.stop, onlyOfStart: start) }
      }
    } onCancel: {
      if let start = ownStart.withLock({ $0 }) { worker.request(.stop, onlyOfStart: start) }
    }
    if case .failure(.stopped) = result, Task.isCancelled {
      var report = SessionReport()
      report.stopReason = .request
      return report
    }
    return try result.get()
  }

  /// Waits until the engine no longer runs: it was stopped, its time is over, or its device failed,
  /// which is the `failure` of the report.
  /// The cancellation of the waiting task neither stops the engine nor ends the wait; only `stop`
  /// does.
  @discardableResult
  public func finished() async -> SessionReport {
    await withCheckedContinuation { continuation in
      worker.whenStopped { continuation.resume(returning: $0 ?? SessionReport()) }
    }
  }

  /// Stops the engine, and returns when all files are complete, even if another caller starts it
  /// again at once.
  @discardableResult
  public func stop() async -> SessionReport {
    await withCheckedContinuation { continuation in
      stop { continuation.resume(returning: $0) }
    }
  }

  /// Stops the engine without waiting. `completion` is called with the report on a thread of the
  /// engine.
  public func stop(then completion: @escaping @Sendable (SessionReport) -> Void) {
    worker.stop { completion($0 ?? SessionReport()) }
  }

  /// Starts for `seconds`, or until a stop if that is nil. Returns the number of the start that was
  /// ordered; nil if none was.
  @discardableResult
  private func start(seconds: Double?, _ reply: @escaping EngineRequest.StartCompletion) -> Int? {
    do throws(EngineFailure) {
      try thread.begin()
      return worker.start(seconds: seconds, reply)
    } catch {
      reply(.failure(error))
      return nil
    }
  }

  // MARK: Devices

  /// The requested devices.
  public var selection: DeviceSelection { worker.selection }

  /// Continues with other devices. Recordings continue in the same channels, with silence for the
  /// gap, and with silence as long as the devices have no input or output to record. The player and
  /// the effects continue as well. Audio is resampled to the previous rate if `selection` requests
  /// none. Throws `EngineFailure` if the devices cannot be opened, or if time is virtual
  /// (`sim:clock=free`) on only one side of the change: the engine then continues with the previous
  /// devices. If the engine does not run, the next start opens the devices of `selection`, and the
  /// return value is nil.
  ///
  /// ```swift
  /// let engine = DuplexEngine(device: "sim:clock=free,noise=-20")
  /// let recording = try await engine.record(to: "both.wav")
  /// try await engine.start()
  /// let granted = try await engine.use(DeviceSelection(device: "sim:clock=free,noise=-30"))
  /// precondition(granted?.sampleRate == 48000)
  /// await engine.stop()
  /// precondition(recording.report?.failure == nil)
  /// ```
  @discardableResult
  public func use(_ selection: DeviceSelection) async throws(EngineFailure) -> DuplexConfiguration?
  {
    try thread.begin()
    let result = await withCheckedContinuation { continuation in
      worker.request(.change(selection, { continuation.resume(returning: $0) }))
    }
    return try result.get()
  }

  // MARK: What is known

  /// The engine's current status.
  public var status: EngineStatus { worker.status }

  /// A stream of the status, updated at least ten times per second from now on; a slow reader
  /// receives only the newest status. It ends when the engine is released.
  public var statusUpdates: AsyncStream<EngineStatus> { worker.statuses.stream(keeping: 1) }

  /// Calls `handler` with the status at least ten times per second of the timeline, on a thread of
  /// the engine, until the returned subscription is cancelled. In virtual time the engine waits for
  /// the handler, and no status is skipped. `start`, `stop` and all other requests wait for a
  /// handler that blocks: a handler that waits for the engine never returns.
  @discardableResult
  public func addStatusHandler(
    _ handler: @escaping @Sendable (EngineStatus) -> Void
  ) -> EventSubscription {
    worker.statuses.subscribe(handler)
  }

  /// A stream of the events from now on; the newest 1,024 unread events are kept. A stop does not
  /// end it, because the engine may start again: it ends when the engine is released, after
  /// `.stopped` if it ran.
  public var events: AsyncStream<EngineEvent> { worker.events.stream(keeping: 1024) }

  /// Calls `handler` with each event, on a thread of the engine, until the returned subscription is
  /// cancelled. `start`, `stop` and all other requests wait for a handler that blocks: a handler
  /// that waits for the engine never returns.
  @discardableResult
  public func addEventHandler(
    _ handler: @escaping @Sendable (EngineEvent) -> Void
  ) -> EventSubscription {
    worker.events.subscribe(handler)
  }

  // MARK: Gains

  /// The gain of the microphone before it is recorded and played; a change takes 10 ms.
  public var inputGain: Gain {
    get { worker.control.inputGain }
    set { worker.control.inputGain = newValue }
  }

  /// The gain of the microphone in the output; a change takes 10 ms. `.silence` mutes it.
  public var monitorGain: Gain {
    get { worker.control.monitorGain }
    set { worker.control.monitorGain = newValue }
  }

  /// The gain of all that is played, before the limiter; a change takes 10 ms.
  public var outputGain: Gain {
    get { worker.control.outputGain }
    set { worker.control.outputGain = newValue }
  }

  // MARK: Playing

  /// The player of files, addresses and decoders, which is mixed with the microphone in the output.
  /// Its queue and position are kept after a stop and after a change of device.
  ///
  /// It plays while the engine runs and has an output; without either, and after the release of the
  /// engine, it waits. A source that cannot be played does not end the run and is not in its
  /// report: only the player's event `.failed` reports it.
  ///
  /// The first use mounts the player in the mixer of the engine: from then on the audio thread
  /// checks for its samples in each cycle, and an engine that only records or monitors never pays
  /// for a player. A caller cannot use a player without this property, so it cannot forget to mount
  /// it.
  public var player: AudioPlayer {
    worker.control.usePlayer()
    return worker.player
  }

  // MARK: Effects

  /// Inserts `effect` after the existing effects of the microphone: in its path to the output, or,
  /// at `.input`, before it is measured, recorded and played. Possible while audio runs. The
  /// effect's `process` runs on the audio thread: mark it `@_noLocks`. An effect at a point that
  /// the devices lack, such as `.input` without an input, waits for other devices and does not run.
  ///
  /// At `.monitor` the effect is after the monitor's gain and before the limiter and the player,
  /// whenever there is an output. It receives silence if the microphone is not played, and may
  /// generate audio itself. Recordings of the microphone do not contain this effect. If the
  /// microphone is played, the effect receives a microphone that fades in over the first 10 ms, and
  /// its output fades out over the last 10 ms before the end; at `.input` nothing is faded.
  ///
  /// At `.output` the effect processes all that is played, the microphone and the player, before
  /// the gain of the output and the limiter, as on the master channel of a mixing desk.
  ///
  /// Each point has room for 64 effects (`EffectInsert.maximumEffects`): inserting another one is a
  /// fatal error with a message. Pass the returned ID to `remove` to remove the effect.
  ///
  /// ```swift
  /// struct HalfAsLoud: AudioEffect {
  ///   @_noLocks mutating func process(_ frames: inout EffectFrames) {
  ///     for sample in 0..<frames.sampleCount { frames[sample] *= 0.5 }
  ///   }
  /// }
  ///
  /// let engine = DuplexEngine(input: "sim:clock=free,noise=-20", output: nil)
  /// engine.insert(HalfAsLoud(), at: .input)
  /// let recording = try await engine.record(to: "quieter.wav")
  /// try await engine.run(seconds: 1)
  /// precondition(recording.report?.frames == 48000)
  /// ```
  @discardableResult
  public func insert<Effect: AudioEffect & ~Copyable>(
    _ effect: consuming sending Effect, at point: InsertPoint = .monitor
  ) -> EffectID {
    worker.control.insert(effect, at: point)
  }

  /// Removes an inserted effect, also while audio runs, and frees it. Returns false if the effect
  /// is not there. Waits for the end of the current cycle if that cycle runs the effect.
  ///
  /// ```swift
  /// struct Silencer: AudioEffect {
  ///   @_noLocks mutating func process(_ frames: inout EffectFrames) {
  ///     for sample in 0..<frames.sampleCount { frames[sample] = 0 }
  ///   }
  /// }
  ///
  /// let engine = DuplexEngine(device: "sim:clock=free,noise=-20")
  /// let silencer = engine.insert(Silencer(), at: .input)
  /// try await engine.start()
  /// precondition(engine.remove(silencer))
  /// await engine.stop()
  /// ```
  @discardableResult
  public func remove(_ effect: EffectID) -> Bool { worker.control.remove(effect) }

  // MARK: Recording

  /// Records to the file `path`: from the first frame if the engine does not run yet, otherwise
  /// from now on. The path `-` is standard output: set `fileFormat` to `.wav` or `.raw`, and ignore
  /// SIGPIPE in your program. A recording of the microphone and one of the output may run at the
  /// same time. Throws `EngineFailure` if the file cannot be created; for a recording requested
  /// before the start, `start` throws this error.
  @discardableResult
  public func record(
    to path: String, _ settings: RecordingSettings = RecordingSettings()
  ) async throws(EngineFailure) -> EngineRecording {
    let recording = EngineRecording(path: path, settings, worker)
    try thread.begin()
    let result = await withCheckedContinuation { continuation in
      worker.request(.record(recording, { continuation.resume(returning: $0) }))
    }
    try result.get()
    return recording
  }
}
