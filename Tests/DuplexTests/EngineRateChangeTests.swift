import TemporaryFolders
import Testing

@testable import Duplex

/// Tests of runs whose devices change, and of the conditions that end a run.
@Suite struct EngineRateChangeTests {
  private let folder = TemporaryFolder()

  private func device(_ rate: Int, input: Bool = true) -> DeviceSelection {
    let name = "sim:clock=free,noise=-20,rate=\(rate)"
    var selection = DeviceSelection(input: input ? name : nil, output: name)
    selection.request.sampleRate = rate
    return selection
  }

  @Test func `a run of 60 s across a change of rate lasts 60 s`()
    async throws
  {
    let engine = DuplexEngine(device: "sim:clock=free,noise=-20")
    async let ended = engine.run(seconds: 60)
    for await status in engine.statusUpdates where status.frames >= 48000 { break }
    let granted = try await engine.use(device(16000))
    try #require(granted?.sampleRate == 16000)
    let report = try await ended
    // The time of the change is a gap of the same length.
    #expect(abs(engine.status.seconds - 60) < 0.001)
    #expect(report.frames < 60 * 48000)
    #expect(report.frames > 60 * 16000)
  }

  @Test func `the progress of a run adds up across changes of rate`() {
    var progress = RunProgress()
    #expect(progress.seconds(atFrame: 0, sampleRate: 0) == 0)
    #expect(progress.frame(atSecond: 2, sampleRate: 48000) == 96000)
    progress.advance(toFrame: 48000, sampleRate: 48000)
    #expect(progress.seconds(atFrame: 48000 + 8000, sampleRate: 16000) == 1.5)
    #expect(progress.frame(atSecond: 4, sampleRate: 16000) == 48000 + 48000)
    #expect(progress.frame(atSecond: 0.5, sampleRate: 16000) == 48000)
    #expect(progress.frame(atSecond: Double.infinity, sampleRate: 16000) == .max)
  }

  @Test(arguments: [Double.nan, -1, -Double.infinity])
  func `a run of negative or NaN seconds has no frames`(seconds: Double) async throws {
    let engine = DuplexEngine(device: "sim:clock=free")
    #expect(try await engine.run(seconds: seconds).frames == 0)
  }

  @Test func `cancelling a refused run does not stop the run that another task started`()
    async throws
  {
    let engine = DuplexEngine(device: "sim:clock=free,noise=-20")
    try await engine.start()
    let cancelled = Task { () -> EngineFailure? in
      while !Task.isCancelled { await Task.yield() }
      do throws(EngineFailure) {
        try await engine.run(seconds: 1)
        return nil
      } catch {
        return error
      }
    }
    cancelled.cancel()
    #expect(await cancelled.value == .alreadyRunning)
    #expect(engine.status.phase == .running)
    await engine.passes(frames: 4800)
    #expect(engine.status.phase == .running)
    await engine.stop()
  }

  @Test func `a change to devices without an output is refused if the run ends with the player`()
    async throws
  {
    var settings = DuplexEngine.Settings()
    settings.endsWithPlayer = true
    let recorder = DuplexEngine(device: "sim:clock=free,noise=-20")
    try await recorder.record(to: folder("song.wav"))
    try await recorder.run(seconds: 1)
    let engine = DuplexEngine(device: "sim:clock=free,noise=-20", settings)
    // The player is paused, so the engine does not end.
    engine.player.enqueue(path: folder("song.wav"))
    try await engine.start()
    do throws(EngineFailure) {
      try await engine.use(DeviceSelection(input: "sim:clock=free", output: nil))
      Issue.record("They were taken.")
    } catch {
      #expect(error.message.contains("no output"))
    }
    await engine.stop()
  }

  @Test func `the status has no levels after a change to devices without an input`() async throws {
    let engine = DuplexEngine(device: "sim:clock=free,noise=-20")
    try await engine.start()
    await engine.passes(frames: 48000)
    #expect(engine.status.levels != nil)
    try await engine.use(device(48000, input: false))
    await engine.passes(frames: 9600)
    #expect(engine.status.levels == nil)
    await engine.stop()
  }

  @Test func `a gate records after start() and nothing without it`() async throws {
    var settings = RecordingSettings()
    settings.gate = { _, _ in WindowGate(preRollFrames: 4800, frames: 4800) }
    let engine = DuplexEngine(device: "sim:clock=free,noise=-20")
    let recording = try await engine.record(to: folder("started.wav"), settings)
    let idle = try await engine.record(
      to: folder("idle.wav"),
      {
        var settings = settings
        settings.source = .output
        return settings
      }())
    try await engine.start()
    await engine.passes(frames: 48000)
    recording.start()
    await engine.passes(frames: 48000)
    await engine.stop()
    #expect(recording.report?.frames == 9600)
    #expect(idle.report?.frames == 0)
  }
}
