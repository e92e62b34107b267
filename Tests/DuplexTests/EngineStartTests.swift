import Duplex
import TemporaryFolders
import Testing

/// Tests of recordings and changes of device during a start that fails and after a run.
@Suite struct EngineStartTests {
  private let folder = TemporaryFolder()
  private let sim = DeviceSelection(device: "sim:clock=free,noise=-20")

  @Test func `a recording requested before a failed start begins with the next start`() async throws
  {
    let engine = DuplexEngine(device: "hw:CARD=nowhere")
    let recording = try await engine.record(to: folder("note.wav"))
    await #expect(throws: EngineFailure.self) { try await engine.start() }
    #expect(recording.report == nil)
    await #expect(throws: EngineFailure.alreadyRecording(.microphone)) {
      try await engine.record(to: folder("other.wav"))
    }
    try await engine.use(sim)
    try await engine.run(seconds: 1)
    #expect(recording.report?.frames == 48000)
    #expect(try SoundFileReader(path: folder("note.wav")).frameCount == 48000)
  }

  @Test func `a recording stopped after a failed start is complete without frames`() async throws {
    let engine = DuplexEngine(device: "hw:CARD=nowhere")
    let recording = try await engine.record(to: folder("note.wav"))
    await #expect(throws: EngineFailure.self) { try await engine.start() }
    #expect(await recording.stop().frames == 0)
    try await engine.use(sim)
    try await engine.run(seconds: 1)
    #expect((try? SoundFileReader(path: folder("note.wav"))) == nil)
  }

  @Test func `a recording stopped during a failing start is complete and records nothing later`()
    async throws
  {
    for _ in 0..<20 {
      let engine = DuplexEngine(device: "hw:CARD=nowhere")
      let path = folder("stopped.wav")
      let recording = try await engine.record(to: path)
      engine.start { _ in }
      #expect(await recording.stop().frames == 0)
      await engine.stop()
      try await engine.use(sim)
      try await engine.run(seconds: 0.1)
      #expect((try? SoundFileReader(path: path)) == nil)
    }
  }

  @Test func `the report of a failed start contains the reason`() async throws {
    let engine = DuplexEngine(device: "hw:CARD=nowhere")
    var events = engine.events.makeAsyncIterator()
    await #expect(throws: EngineFailure.self) { try await engine.start() }
    var isReported = false
    while let event = await events.next() {
      guard case .stopped(let report) = event else { continue }
      guard case .device(let failure) = report.stopReason else {
        Issue.record("The report says \(report.stopReason).")
        break
      }
      #expect(failure.kind == .notFound)
      isReported = true
      break
    }
    #expect(isReported)
  }

  @Test func `a recording whose file cannot be created is complete with the reason`() async throws {
    let engine = DuplexEngine(device: "sim:clock=free,noise=-20")
    let recording = try await engine.record(to: folder("nowhere/note.wav"))
    await #expect(throws: EngineFailure.self) { try await engine.start() }
    #expect(recording.report?.frames == 0)
    #expect(recording.report?.failure?.kind == .cannotCreate)
    #expect(try await engine.run(seconds: 1).frames == 48000)
  }

  /// A decoder whose reads do not return before it is released.
  private final class BlockedDecoder: PlainSoundDecoder {
    let name = "blocked"
    let sampleRate = 48000
    let channelCount = 1
    let frameCount: Int? = nil
    let supportsSeeking = false
    let position = 0
    private let isReading: AtomicFlag
    private let isReleased: AtomicFlag
    private let saysReady: Bool

    init(isReading: AtomicFlag, isReleased: AtomicFlag, saysReady: Bool = true) {
      (self.isReading, self.isReleased) = (isReading, isReleased)
      self.saysReady = saysReady
    }

    func isReady(prebuffer seconds: Double?) -> Bool { saysReady || isReleased.isRaised }

    func read(into buffer: inout SampleBuffer, at target: Int, frames: Int) -> Int {
      isReading.raise()
      while !isReleased.isRaised { HostClock.pause(milliseconds: 1) }
      return 0
    }

    func seek(toFrame frame: Int) {}
  }

  @Test func `a stop ends a start that waits for a decoder that blocks`() async throws {
    let (isReading, isReleased) = (AtomicFlag(), AtomicFlag())
    defer { isReleased.raise() }
    let engine = DuplexEngine(input: nil, output: "sim")
    engine.player.enqueue(BlockedDecoder(isReading: isReading, isReleased: isReleased))
    engine.player.play()
    async let start = engine.start()
    while !isReading.isRaised { await Task.yield() }
    #expect(engine.status.phase == .starting)
    #expect(await engine.stop().frames == 0)
    do {
      _ = try await start
      Issue.record("It started.")
    } catch {
      #expect(error as? EngineFailure == .stopped)
    }
    isReleased.raise()
    #expect(try await engine.start().sampleRate == 48000)
    await engine.stop()
  }

  @Test func `a start does not wait for a decoder that is not ready`() async throws {
    let (isReading, isReleased) = (AtomicFlag(), AtomicFlag())
    defer { isReleased.raise() }
    let engine = DuplexEngine(input: nil, output: "sim")
    engine.player.enqueue(
      BlockedDecoder(isReading: isReading, isReleased: isReleased, saysReady: false))
    engine.player.play()
    #expect(try await engine.start().sampleRate == 48000)
    #expect(!isReading.isRaised)
    await engine.stop()
  }

  @Test func `the last of several starts and stops takes effect`() async throws {
    for round in 0..<50 {
      let engine = DuplexEngine(device: "sim:clock=free,noise=-20")
      // Starts from the stopped state and from a run in turn.
      if round % 2 == 1 { try await engine.start() }
      engine.stop { _ in }
      engine.start { _ in }
      engine.stop { _ in }
      try await engine.start()
      #expect(engine.status.phase == .running)
      engine.stop { _ in }
      engine.start { _ in }
      await engine.stop()
      #expect(try await engine.run(seconds: 0.1).frames == 4800)
    }
  }

  @Test func `a run ends at its length while other devices are being opened`()
    async throws
  {
    for _ in 0..<20 {
      let engine = DuplexEngine(device: "sim:clock=free,noise=-20")
      async let report = engine.run(seconds: 0.5)
      do throws(EngineFailure) {
        try await engine.use(DeviceSelection(device: "sim:clock=free,noise=-30"))
      } catch {
        #expect(error == .stopped)
      }
      #expect(try await report.frames == 24000)
      #expect(engine.status.phase == .stopped)
    }
  }
}
