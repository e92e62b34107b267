import Duplex
import TemporaryFolders
import Testing

/// Tests of the end of an engine: of its streams, of what it keeps, and of a device that goes away.
@Suite struct EngineEndTests {
  private let folder = TemporaryFolder()

  /// Returns the streams of an engine that is released before they are read.
  private func streams(runs: Bool) async throws -> (
    events: AsyncStream<EngineEvent>, statuses: AsyncStream<EngineStatus>,
    player: AsyncStream<PlayerEvent>
  ) {
    let engine = DuplexEngine(device: "sim:clock=free")
    let streams = (engine.events, engine.statusUpdates, engine.player.events)
    if runs { try await engine.run(seconds: 0.1) }
    return streams
  }

  @Test(arguments: [false, true]) func `the streams of an engine end with it`(runs: Bool)
    async throws
  {
    let (events, statuses, player) = try await streams(runs: runs)
    var kinds: [String] = []
    for await event in events {
      if case .stopped = event { kinds.append("stopped") }
    }
    #expect(kinds == (runs ? ["stopped"] : []))
    for await status in statuses { #expect(status.phase == .stopped) }
    for await event in player { Issue.record("The player reports \(event.kind).") }
  }

  @Test func `a stream outlives a stop, and the next start is told by it`() async throws {
    let engine = DuplexEngine(device: "sim:clock=free")
    var events = engine.events.makeAsyncIterator()
    for _ in 0..<2 {
      try await engine.run(seconds: 0.1)
      while let event = await events.next() {
        if case .stopped(let report) = event {
          #expect(report.frames == 4800)
          break
        }
      }
    }
  }

  @Test func `the streams of a player that plays nowhere end with it`() async {
    func events() -> AsyncStream<PlayerEvent> { AudioPlayer().events }
    for await event in events() { Issue.record("The player reports \(event.kind).") }
  }

  /// Returns an accessor of a recording that was stopped after its engine was released.
  private func stoppedLate(runs: Bool) async throws -> () -> EngineRecording? {
    func recordingOfAnEngine() async throws -> EngineRecording {
      let engine = DuplexEngine(device: "sim:clock=free,noise=-20")
      let recording = try await engine.record(to: folder("\(runs).wav"))
      if runs { try await engine.start() }
      return recording
    }
    let recording = try await recordingOfAnEngine()
    #expect(recording.report != nil)
    for _ in 0..<2 { await recording.stop() }
    recording.stop { _ in }
    return { [weak recording] in recording }
  }

  @Test(arguments: [false, true])
  func `a recording that is stopped after its engine is gone is freed`(runs: Bool) async throws {
    let recording = try await stoppedLate(runs: runs)
    #expect(recording() == nil)
  }

  @Test func `a device that goes away ends the run with its failure, and an event tells it`()
    async throws
  {
    let engine = DuplexEngine(device: "sim:clock=free,noise=-20,unplug-at=0.2")
    var events = engine.events.makeAsyncIterator()
    let recording = try await engine.record(to: folder("short.wav"))
    let report = try await engine.run(seconds: 1)
    #expect(report.failure?.kind == .lost)
    // The last whole period of 256 frames before frame 9600.
    #expect(report.frames == 9472 && recording.report?.frames == 9472)
    #expect(report.events.map(\.kind) == [.deviceLost])
    #expect(report.events.first?.frame == 9472)
    var told: [TimelineEvent] = []
    while let event = await events.next() {
      if case .timeline(let event) = event { told.append(event) }
      if case .stopped = event { break }
    }
    #expect(told == report.events)
  }

  @Test func `a run that ends otherwise has no failure, and a loss is reported once`() async throws
  {
    let plain = DuplexEngine(device: "sim:clock=free")
    #expect(try await plain.run(seconds: 0.1).failure == nil)
    var settings = DuplexEngine.Settings()
    settings.reconnects = true
    let patient = DuplexEngine(device: "sim:clock=free,unplug-at=0.2,replug-at=0.4", settings)
    let report = try await patient.run(seconds: 1)
    #expect(report.failure == nil)
    #expect(report.events.map(\.kind) == [.deviceLost, .deviceReturned])
  }
}
