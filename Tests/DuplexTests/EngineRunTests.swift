import TemporaryFolders
import Testing

@testable import Duplex

/// Tests of the start and the end of runs.
@Suite struct EngineRunTests {
  private let folder = TemporaryFolder()

  private func failure(of settings: DuplexEngine.Settings, input: String?, output: String?) async
    -> EngineFailure?
  {
    let engine = DuplexEngine(input: input, output: output, settings)
    engine.player.enqueue(path: "nowhere.wav")
    engine.player.play()
    do throws(EngineFailure) {
      try await engine.run(seconds: 0.1)
      return nil
    } catch {
      return error
    }
  }

  /// Returns the samples of the first channel of a file.
  private func samples(_ name: String) throws -> [Float] {
    var reader = try SoundFileReader(path: folder(name))
    let sound = try reader.readAll(maximumFrames: 48000)
    return (0..<sound.frameCount).map { sound[$0, 0] }
  }

  @Test(arguments: [Double.nan, .infinity, -.infinity, 0.1, 50, -60.1])
  func `a limit out of its range is refused`(limit: Double) async {
    var settings = DuplexEngine.Settings()
    settings.limitDBFS = limit
    let found = await failure(of: settings, input: "sim:clock=free", output: "sim:clock=free")
    #expect(found?.message.contains("-60 to 0 dBFS") == true)
  }

  @Test(arguments: [Double.nan, .infinity, -1, 0.2])
  func `a look-ahead out of its range is refused`(seconds: Double) async {
    var settings = DuplexEngine.Settings()
    settings.limitLookAheadSeconds = seconds
    let found = await failure(of: settings, input: "sim:clock=free", output: "sim:clock=free")
    #expect(found?.message.contains("0 to 0.1") == true)
  }

  @Test func `a protection out of its range is refused`() async {
    var settings = DuplexEngine.Settings()
    settings.protection.dimGain = Gain(decibels: 6)
    let found = await failure(of: settings, input: "sim:clock=free", output: "sim:clock=free")
    #expect(found?.message.contains("dimGain") == true)
  }

  @Test func `the settings of an engine are those of its protection`() {
    var settings = DuplexEngine.Settings()
    #expect(settings.protection == ProtectionSettings())
    settings.limitDBFS = nil
    settings.limitLookAheadSeconds = 0.02
    settings.limitsTruePeak = true
    settings.suppressesFeedback = false
    var protection = ProtectionSettings()
    protection.limitDBFS = nil
    protection.limitLookAheadSeconds = 0.02
    protection.limitsTruePeak = true
    protection.suppressesFeedback = false
    #expect(settings.protection == protection)
    settings.protection = ProtectionSettings()
    #expect(settings.limitDBFS == -1 && settings.limitLookAheadSeconds == 0)
    #expect(!settings.limitsTruePeak && settings.suppressesFeedback)
  }

  @Test(arguments: [0, 480])
  func `an engine delays what it plays by the look-ahead of its protection`(delay: Int)
    async throws
  {
    var settings = DuplexEngine.Settings()
    settings.protection.limitLookAheadSeconds = Double(delay) / 48000
    settings.protection.suppressesFeedback = false
    let engine = DuplexEngine(device: "sim:clock=free,noise=-40", settings)
    try await engine.record(to: folder("microphone-\(delay).wav"))
    var output = RecordingSettings()
    output.source = .output
    try await engine.record(to: folder("output-\(delay).wav"), output)
    try await engine.run(seconds: 0.5)
    let heard = try samples("microphone-\(delay).wav")
    let played = try samples("output-\(delay).wav")
    #expect(heard[4800..<9600].contains { abs($0) > 0.005 })
    let isSame = (4800..<9600).allSatisfy { abs(played[$0] - heard[$0 - delay]) < 0.001 }
    #expect(isSame)
  }

  @Test(arguments: [Double.nan, .infinity, -1])
  func `a prebuffer out of its range is refused`(seconds: Double) async {
    var settings = DuplexEngine.Settings()
    settings.prebufferSeconds = seconds
    let found = await failure(of: settings, input: "sim:clock=free", output: "sim:clock=free")
    #expect(found?.message.contains("0 or more") == true)
  }

  @Test func `a run that ends with the player is refused without an output`() async {
    var settings = DuplexEngine.Settings()
    settings.endsWithPlayer = true
    let found = await failure(of: settings, input: "sim:clock=free", output: nil)
    #expect(found?.message.contains("no output") == true)
  }

  @Test(arguments: [Double.nan, .infinity, -1, 0])
  func `a ring out of its range is refused`(seconds: Double) async throws {
    let engine = DuplexEngine(device: "sim:clock=free")
    var settings = RecordingSettings()
    settings.ringSeconds = seconds
    try await engine.record(to: folder("ring.wav"), settings)
    do throws(EngineFailure) {
      try await engine.start()
      Issue.record("The ring has \(seconds) seconds.")
    } catch {
      #expect(error.message.contains("ringSeconds"))
    }
  }

  @Test func `run(seconds:) is refused while the engine runs`() async throws {
    let engine = DuplexEngine(device: "sim:clock=free")
    try await engine.start()
    await #expect(throws: EngineFailure.alreadyRunning) { try await engine.run(seconds: 1) }
    #expect(engine.status.phase == .running)
    await engine.stop()
    #expect(try await engine.run(seconds: 0.5).frames == 24000)
  }

  @Test func `one of two simultaneous runs is refused, and the other is complete`() async throws {
    let engine = DuplexEngine(device: "sim:clock=free")
    let found = await withTaskGroup(of: Int?.self) { group in
      for _ in 0..<2 { group.addTask { try? await engine.run(seconds: 20).frames } }
      return await group.reduce(into: [Int?]()) { $0.append($1) }
    }
    #expect(found.compactMap { $0 } == [960_000])
  }

  @Test func `cancelling a task stops its run`() async throws {
    let engine = DuplexEngine(device: "sim:clock=free")
    let run = Task { try await engine.run(seconds: 1_000_000_000) }
    await engine.passes(frames: 1)
    run.cancel()
    let report = try? await run.value
    #expect(engine.status.phase == .stopped)
    if let report, !report.stopReason.isUserRequest { Issue.record("It ended otherwise.") }
    let late = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await engine.run(seconds: 1_000_000_000)
    }
    _ = try await late.value
    #expect(engine.status.phase == .stopped)
  }

  @Test func `a run returns its own report if another run follows at once`() async throws {
    let engine = DuplexEngine(device: "sim:clock=free")
    let (isFollowed, isOver) = (AtomicFlag(), AtomicFlag())
    engine.addEventHandler { [unowned engine] event in
      guard case .stopped = event, isFollowed.raiseFirst() else { return }
      engine.start { [unowned engine] _ in engine.stop { _ in isOver.raise() } }
    }
    let executor = HeldExecutor()
    let run = Task(executorPreference: executor) {
      try await engine.run(seconds: 0.001)
    }
    // The task continues only after the end of the second run.
    executor.runJobs()
    while !isOver.isRaised { await Task.yield() }
    executor.release()
    #expect(try await run.value.frames == 48)
  }

  @Test func `a stop does not wait for a run that another caller starts at the same time`() {
    // The engine's thread does not run, so no thread handles the start.
    let worker = EngineWorker(DeviceSelection(device: "sim:clock=free"), DuplexEngine.Settings())
    let reported = MutexBox<[String]>([])
    worker.start(seconds: nil) { _ in
      reported.withLock { $0.append("start") }
      worker.start(seconds: nil) { _ in }
    }
    worker.stop { _ in reported.withLock { $0.append("end") } }
    #expect(reported.withLock { $0 } == ["start", "end"])
    #expect(worker.status.phase == .starting)
  }

  @Test func `waiters for the end are called if a stop precedes the handling of the start`() {
    // The engine's thread does not run, so no thread handles the start.
    let worker = EngineWorker(DeviceSelection(device: "sim:clock=free"), DuplexEngine.Settings())
    let reported = MutexBox<[String]>([])
    worker.start(seconds: nil) { _ in reported.withLock { $0.append("start") } }
    worker.whenStopped { report in reported.withLock { $0.append(report == nil ? "end" : "report") }
    }
    worker.request(.stop)
    #expect(reported.withLock { $0 } == ["start", "end"])
    #expect(worker.status.phase == .stopped)
  }

  @Test func `the recording of the output ends at the frame at which the player ends the run`()
    async throws
  {
    var writer = try SoundFileWriter(
      path: folder("short.wav"), fileFormat: .wav, sampleFormat: .s16, sampleRate: 48000,
      channelCount: 2, overwrite: false)
    try writer.write(SampleBuffer(frameCount: 13004, channelCount: 2), frames: 13004)
    try writer.finish()
    var ending = DuplexEngine.Settings()
    ending.endsWithPlayer = true
    let engine = DuplexEngine(input: nil, output: "sim:clock=free", ending)
    var settings = RecordingSettings()
    settings.source = .output
    let recording = try await engine.record(to: folder("output.wav"), settings)
    engine.player.enqueue(path: folder("short.wav"))
    engine.player.play()
    try await engine.start()
    let report = await engine.finished()
    #expect(report.frames == 13004)
    #expect(recording.report?.frames == 13004)
  }

  @Test func `a removed effect no longer changes the sound`() async throws {
    let engine = DuplexEngine(input: "sim:clock=free,noise=-20", output: nil)
    let muting = engine.insert(Zero(), at: .input)
    try await engine.start()
    await engine.passes(frames: 4800)
    #expect(engine.remove(muting))
    #expect(!engine.remove(muting))
    await engine.passes(frames: 4800)
    let recording = try await engine.record(to: folder("loud.wav"))
    await engine.passes(frames: 4800)
    // More effects than there is room for at the same time.
    for _ in 0..<200 { engine.remove(engine.insert(Zero(), at: .input)) }
    await engine.stop()
    #expect(recording.report.map { $0.levels.samplePeaks.allSatisfy { $0 > 0.03 } } == true)
  }

  @Test func `the description of a failure is its message`() {
    let failure = DeviceFailure(.busy, "It is in use.", hint: "Wait.")
    #expect("\(failure)" == failure.message)
    #expect("\(EngineFailure.device(failure))" == failure.message)
    #expect("\(FileFailure(.diskFull, "It is full.", hint: "Make room."))" == "It is full.")
  }
}

/// An effect that plays silence.
private struct Zero: AudioEffect {
  @_noLocks
  mutating func process(_ frames: inout EffectFrames) {
    for sample in 0..<frames.sampleCount { frames[sample] = 0 }
  }
}

/// An executor of tasks that runs their jobs when it is told to, and at once after `release`.
private final class HeldExecutor: TaskExecutor {
  private struct State {
    var jobs: [UnownedJob] = []
    var isReleased = false
  }

  private let state = MutexBox(State())

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let isReleased = state.withLock { state in
      if !state.isReleased { state.jobs.append(job) }
      return state.isReleased
    }
    if isReleased { job.runSynchronously(on: asUnownedTaskExecutor()) }
  }

  /// Runs the jobs that were enqueued so far.
  func runJobs() {
    let jobs = state.withLock { state in
      defer { state.jobs = [] }
      return state.jobs
    }
    for job in jobs { job.runSynchronously(on: asUnownedTaskExecutor()) }
  }

  /// Runs all jobs at once from now on.
  func release() {
    state.withLock { $0.isReleased = true }
    runJobs()
  }
}
