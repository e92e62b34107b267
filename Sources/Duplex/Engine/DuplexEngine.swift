import AudioBasics
import AudioDevices
import AudioSessions
import RealtimeAudio

/// Sound devices that run: the microphone is heard, recorded and changed by effects, a player
/// plays, at the lowest latency that the devices allow.
///
/// ```swift
/// let engine = DuplexEngine(device: "sim:clock=free,noise=-20")
/// try await engine.record(to: "note.wav")
/// let report = try await engine.run(seconds: 10)
/// precondition(report.frames == 480_000)
/// ```
///
/// All calls may be made on any thread or actor but the audio thread. What may take long, such as
/// opening a device that does not answer, happens on a thread of the engine, where handlers are
/// called as well. No call blocks, with two exceptions: `remove` waits for one cycle of the audio
/// thread, and the release of the last reference to a running engine waits until its devices are
/// closed and its files are complete. Recordings, effects, gains and the player's queue stay when
/// the devices are changed by `use`.
public final class DuplexEngine: Sendable {
  private let worker: EngineWorker
  private let thread: EngineThread

  /// An engine on one device for both directions, which is opened by `start`. `default` is the
  /// system's; `sim` needs no hardware.
  public convenience init(device: String = "default", _ settings: Settings = Settings()) {
    self.init(DeviceSelection(device: device), settings)
  }

  /// An engine on an input, an output, or both; nil for a direction that is not used.
  public convenience init(input: String?, output: String?, _ settings: Settings = Settings()) {
    self.init(DeviceSelection(input: input, output: output), settings)
  }

  /// An engine on the devices of `selection`.
  public init(_ selection: DeviceSelection, _ settings: Settings = Settings()) {
    worker = EngineWorker(selection, settings)
    thread = EngineThread(worker)
  }

  deinit { thread.end() }

  // MARK: Running

  /// Opens the devices and answers when sound runs; at once where it runs already. Throws
  /// `EngineFailure` where a device or a file of a recording cannot be opened; then nothing runs.
  @discardableResult
  public func start() async throws(EngineFailure) -> DuplexConfiguration {
    let result = await withCheckedContinuation { continuation in
      start(seconds: nil) { continuation.resume(returning: $0) }
    }
    return try result.get()
  }

  /// The same, without waiting: `then` is told on a thread of the engine.
  public func start(
    then reply: @escaping @Sendable (Result<DuplexConfiguration, EngineFailure>) -> Void
  ) {
    start(seconds: nil, reply)
  }

  /// Starts, stops when `seconds` of the timeline are over, at once where they are below 0 or no
  /// number, and answers when all files are complete, or when it was stopped before. A task that is
  /// cancelled stops it as well, also while devices are opened. Throws as `start` does, `.stopped`
  /// where `stop` was called before sound ran, and `.alreadyRunning` where the engine runs.
  @discardableResult
  public func run(seconds: Double) async throws(EngineFailure) -> SessionReport {
    // A run that somebody else has started, before or afterwards, is not stopped.
    let ownStart = MutexBox<Int?>(nil)
    let result = await withTaskCancellationHandler { () -> Result<SessionReport, EngineFailure> in
      do throws(EngineFailure) {
        try await start(seconds: seconds, ownStart)
        return .success(await finished())
      } catch {
        guard error == .stopped, Task.isCancelled else { return .failure(error) }
        var report = SessionReport()
        report.stopReason = .request
        return .success(report)
      }
    } onCancel: {
      if let start = ownStart.withLock({ $0 }) { worker.order(.stop, onlyOfStart: start) }
    }
    return try result.get()
  }

  /// Answers when the engine does not run any more: it was stopped, its time is over, its device
  /// failed. To cancel the task that waits neither stops the engine nor ends the waiting: `stop`
  /// does.
  @discardableResult
  public func finished() async -> SessionReport {
    await withCheckedContinuation { continuation in
      worker.whenStopped { continuation.resume(returning: $0 ?? SessionReport()) }
    }
  }

  /// Stops, and answers when all files are complete.
  @discardableResult
  public func stop() async -> SessionReport {
    worker.order(.stop)
    return await finished()
  }

  /// The same, without waiting: `then` is told on a thread of the engine.
  public func stop(then tell: @escaping @Sendable (SessionReport) -> Void) {
    worker.order(.stop)
    worker.whenStopped { tell($0 ?? SessionReport()) }
  }

  /// Starts for `seconds`, and leaves the number of that start in `ownStart`.
  private func start(
    seconds: Double, _ ownStart: MutexBox<Int?>
  ) async throws(EngineFailure) {
    let result = await withCheckedContinuation { continuation in
      guard let start = start(seconds: seconds, { continuation.resume(returning: $0) }) else {
        return
      }
      ownStart.withLock { $0 = start }
      // The task was cancelled before there was a start to stop.
      if Task.isCancelled { worker.order(.stop, onlyOfStart: start) }
    }
    _ = try result.get()
  }

  /// Answers with the number of the start that was ordered; nil where none was.
  @discardableResult
  private func start(seconds: Double?, _ reply: @escaping EngineOrder.Reply) -> Int? {
    do throws(EngineFailure) {
      try thread.begin()
      return worker.start(seconds: seconds, reply)
    } catch {
      reply(.failure(error))
      return nil
    }
  }

  // MARK: Devices

  /// The devices that are asked for.
  public var selection: DeviceSelection { worker.selection }

  /// Goes on with other devices. What is recorded goes on in the same channels, with silence for
  /// the gap, and for as long as the devices have no input or output to record; so do the player
  /// and the effects. Sound is resampled to the previous rate where `selection` asks for none.
  /// Throws `EngineFailure` where the devices cannot be opened, or time is virtual
  /// (`sim:clock=free`) on one side of the change only: then the engine goes on with the previous
  /// devices. While the engine does not run, the next start opens the devices of `selection`, and
  /// nil is the answer.
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
      worker.order(.change(selection, { continuation.resume(returning: $0) }))
    }
    return try result.get()
  }

  // MARK: What is known

  /// The engine's current status.
  public var status: EngineStatus { worker.status }

  /// The status, at least ten times a second from now on; a slow reader gets only the newest.
  public var statusUpdates: AsyncStream<EngineStatus> { worker.statuses.stream(keeping: 1) }

  /// Calls `handler` with the status at least ten times a second of the timeline, on a thread of
  /// the engine, until the returned subscription is cancelled. In virtual time the engine waits for
  /// the handler, and no status is left out. `start`, `stop` and every other request wait for a
  /// handler that blocks: one that itself waits for the engine never returns.
  @discardableResult
  public func addStatusHandler(
    _ handler: @escaping @Sendable (EngineStatus) -> Void
  ) -> EventSubscription {
    worker.statuses.subscribe(handler)
  }

  /// Events from now on; the newest 1,024 unread ones are kept.
  public var events: AsyncStream<EngineEvent> { worker.events.stream(keeping: 1024) }

  /// Calls `handler` with each event, on a thread of the engine, until the returned subscription is
  /// cancelled. `start`, `stop` and every other request wait for a handler that blocks: one that
  /// itself waits for the engine never returns.
  @discardableResult
  public func addEventHandler(
    _ handler: @escaping @Sendable (EngineEvent) -> Void
  ) -> EventSubscription {
    worker.events.subscribe(handler)
  }

  // MARK: Gains

  /// The gain of the microphone before it is recorded and played; changes take 10 ms.
  public var inputGain: Gain {
    get { worker.control.inputGain }
    set { worker.control.inputGain = newValue }
  }

  /// The gain of the microphone in the output; changes take 10 ms. `.silence` mutes it.
  public var monitorGain: Gain {
    get { worker.control.monitorGain }
    set { worker.control.monitorGain = newValue }
  }

  /// The gain of all that is played, before the limiter; changes take 10 ms.
  public var outputGain: Gain {
    get { worker.control.outputGain }
    set { worker.control.outputGain = newValue }
  }

  // MARK: Playing

  /// Plays files, addresses and decoders to the output, mixed with the microphone. Its queue and
  /// position stay over a stop and over a change of device.
  public var player: AudioPlayer {
    // From now on the audio thread looks for what it plays.
    worker.control.usePlayer()
    return worker.player
  }

  // MARK: Effects

  /// Lets `effect` change the microphone's sound, behind the effects that are there: on its way to
  /// the output, or, at `.input`, before it is measured, recorded and played. Also while sound
  /// runs. Its `process` runs on the audio thread: mark it `@_noLocks`.
  ///
  /// At `.monitor` it comes behind the monitor's gain and before the limiter and the player,
  /// wherever there is an output: it gets silence where the microphone is not played, and may make
  /// sound of its own. What is recorded of the microphone is without it.
  ///
  /// Each point has room for 64 effects (`EffectInsert.mostEffects`): one more ends the program
  /// with a sentence. `remove` takes away what the answer stands for.
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

  /// Takes an effect away that was inserted, also while sound runs, and frees it; false where it is
  /// not there. Waits for the end of the cycle that runs it now, if one does.
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

  /// Records to the file `path`: from the first frame on where the engine does not run yet, else
  /// from now on. A recording of the microphone and one of the output may run at once. Throws
  /// `EngineFailure` where the file cannot be made; before the start, `start` throws that.
  @discardableResult
  public func record(
    to path: String, _ settings: RecordingSettings = RecordingSettings()
  ) async throws(EngineFailure) -> EngineRecording {
    let recording = EngineRecording(path: path, settings, worker)
    try thread.begin()
    let result = await withCheckedContinuation { continuation in
      worker.order(.record(recording, { continuation.resume(returning: $0) }))
    }
    try result.get()
    return recording
  }
}

/// The thread of an engine, which begins with the first order.
private final class EngineThread: Sendable {
  private struct Work: RealtimeWork, ~Copyable, Sendable {
    let worker: EngineWorker

    mutating func run() { worker.main() }
  }

  private let worker: EngineWorker
  private let thread = MutexBox<RealtimeThread<Work>?>(nil)

  init(_ worker: EngineWorker) {
    self.worker = worker
  }

  /// Makes it, where it is not there.
  func begin() throws(EngineFailure) {
    do throws(ThreadFailure) {
      try thread.withLock { thread throws(ThreadFailure) in
        guard thread == nil else { return }
        thread = try RealtimeThread(
          name: "duplex-engine", priority: .normal, stackByteCount: 524_288, Work(worker: worker))
      }
    } catch {
      throw .device(DeviceFailure(error))
    }
  }

  /// Ends it: waits for it, but on the thread itself, where a handler held the engine at last.
  func end() {
    worker.order(.quit)
    guard let thread = thread.withLock({ $0.take() }) else { return }
    if thread.isCurrent { thread.abandon() } else { _ = thread.join() }
  }
}
