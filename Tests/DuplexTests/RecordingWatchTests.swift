import Duplex
import Foundation
import TemporaryFolders
import Testing

/// Tests of what is known of a recording while it runs, and of the rules for its files.
@Suite struct RecordingWatchTests {
  private let folder = TemporaryFolder()
  private let device = "sim:clock=free,noise=-20"

  private func settings(_ change: (inout RecordingSettings) -> Void) -> RecordingSettings {
    var settings = RecordingSettings()
    change(&settings)
    return settings
  }

  @Test func `handlers, streams and polling get all events in order`() async throws {
    let engine = DuplexEngine(device: device)
    let recording = try await engine.record(
      to: folder("part-%02d.wav"), settings { $0.split = .seconds(0.5) })
    let handled = MutexBox<[String]>([])
    recording.addEventHandler { event in handled.withLock { $0.append("\(event)") } }
    let events = recording.events
    try await engine.run(seconds: 2)
    // The stream ends, although the engine may start again.
    var read: [String] = []
    var finished = 0
    for await event in events {
      read.append("\(event)")
      if case .finished = event { finished += 1 }
    }
    #expect(finished == 4)
    #expect(read == handled.withLock { $0 })
    #expect(read == recording.polledEvents.map { "\($0)" })
    for await _ in recording.events { Issue.record("It is complete.") }
  }

  @Test func `events arrive while the recording runs, also from a device that was changed`()
    async throws
  {
    let engine = DuplexEngine(device: device)
    try await engine.start()
    let recording = try await engine.record(to: folder("marked.wav"))
    var events = recording.events.makeAsyncIterator()
    func nextLabel() async -> String? {
      while let event = await events.next() {
        if case .marker(let marker) = event { return marker.label }
      }
      return nil
    }
    recording.mark("first")
    #expect(await nextLabel() == "first")
    try await engine.use(DeviceSelection(device: "sim:clock=free,noise=-30"))
    recording.mark("second")
    #expect(await nextLabel() == "second")
    await recording.stop()
    #expect(await nextLabel() == nil)
    await engine.stop()
  }

  @Test func `a cancelled handler is not called`() async throws {
    let engine = DuplexEngine(device: device)
    let recording = try await engine.record(to: folder("cancelled.wav"))
    let count = MutexBox(0)
    recording.addEventHandler { _ in count.withLock { $0 += 1 } }.cancel()
    try await engine.run(seconds: 0.1)
    #expect(count.withLock { $0 } == 0)
  }

  @Test func `the events of a recording that never begins end with its engine`() async throws {
    var engine: DuplexEngine? = DuplexEngine(device: device)
    let recording = try #require(try await engine?.record(to: folder("never.wav")))
    let events = recording.events
    #expect(recording.state == RecordingState())
    engine = nil
    for await _ in events { Issue.record("Nothing happened.") }
  }

  @Test func `the events of a recording that cannot begin end`() async throws {
    let engine = DuplexEngine(device: device)
    let recording = try await engine.record(to: folder("none/take.wav"))
    let events = recording.events
    await #expect(throws: EngineFailure.self) { try await engine.start() }
    for await _ in events { Issue.record("Nothing happened.") }
    #expect(recording.report?.failure != nil)
  }

  @Test func `a handler that refers to its recording does not keep it in memory`() async throws {
    weak var released: EngineRecording?
    func record() async throws {
      let engine = DuplexEngine(device: device)
      let recording = try await engine.record(to: folder("handled.wav"))
      recording.addEventHandler { _ in _ = recording.path }
      try await engine.run(seconds: 0.1)
      released = recording
    }
    try await record()
    #expect(released == nil)
  }

  @Test func `the state grows while the recording runs, and ends as the report`() async throws {
    let engine = DuplexEngine(device: device)
    let path = folder("state.wav")
    let recording = try await engine.record(to: path)
    let states = MutexBox<[(frames: Int, state: RecordingState)]>([])
    let subscription = engine.addStatusHandler { status in
      states.withLock { $0.append((status.frames, recording.state)) }
    }
    try await engine.run(seconds: 3)
    subscription.cancel()
    let running = states.withLock { $0 }.filter { (24000..<144_000).contains($0.frames) }
    #expect(running.count >= 20)
    for (frames, state) in running {
      // Published every 50 ms of the recording.
      #expect((frames - 9600...frames).contains(state.frames))
      #expect(state.byteCount >= 4 * state.frames && state.path == path && state.isOpen)
      #expect(state.levels.samplePeaks.count == 2 && state.levels.momentaryLUFS != nil)
    }
    let report = try #require(recording.report)
    #expect(recording.state.frames == 144_000 && recording.state.seconds == 3)
    #expect(recording.state.levels == report.levels)
    #expect(report.levels.integratedLUFS != nil)
    let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
    #expect(recording.state.byteCount == size)
    #expect(recording.state.path == path && recording.state.isOpen)
  }

  @Test func `a recording without levels has a state`() async throws {
    let engine = DuplexEngine(device: device)
    let recording = try await engine.record(
      to: folder("plain.wav"), settings { $0.measuresLevels = false })
    try await engine.run(seconds: 1)
    #expect(recording.state.frames == 48000 && recording.state.levels == .nothing)
  }

  @Test func `the oldest files are removed if the settings limit them`() async throws {
    let engine = DuplexEngine(device: device)
    let recording = try await engine.record(
      to: folder("last-%02d.wav"),
      settings {
        $0.split = .seconds(0.5)
        $0.keep = .files(2)
        $0.syncSeconds = 60
      })
    let events = recording.events
    try await engine.run(seconds: 3)
    var removed = 0
    for await case .removed in events { removed += 1 }
    let report = try #require(recording.report)
    #expect(removed == 4 && report.files.count == 2 && report.frames == 144_000)
    for file in report.files { #expect(try SoundFileReader(path: file.path).frameCount == 24000) }
  }

  @Test func `a command runs for each file, and the stop waits for it`() async throws {
    let engine = DuplexEngine(device: device)
    let recording = try await engine.record(
      to: folder("sent-%02d.wav"),
      settings {
        $0.split = .seconds(0.5)
        $0.onFile = "sleep 0.1; echo \"sent $1\""
        $0.reportsCommandOutput = true
      })
    let events = recording.events
    try await engine.run(seconds: 1)
    #expect(!recording.isWaitingForCommands)
    var printed: [String] = []
    for await event in events { if case .printed(let line) = event { printed.append(line) } }
    #expect(printed == recording.report?.files.map { "sent \($0.path)" })
    #expect(printed.count == 2)
  }

  @Test func `the wait for a command that does not end can be ended`() async throws {
    let engine = DuplexEngine(device: device)
    let name = folder("hanging.wav")
    let running = name + ".running"
    let recording = try await engine.record(
      to: name,
      settings {
        $0.onFile =
          "echo $$ >$1.new; mv $1.new $1.running; while [ -e $1.running ]; do sleep 0.01; done"
      })
    let events = recording.events
    let run = Task { try await engine.run(seconds: 0.1) }
    // The command has started, so that it will find its file gone.
    while recording.report == nil,
      !recording.isWaitingForCommands || !FileManager.default.fileExists(atPath: running)
    { await Task.yield() }
    #expect(recording.report == nil)
    #expect(try SoundFileReader(path: name).frameCount == 4800)
    recording.leaveCommands()
    #expect(try await run.value.frames == 4800)
    var warnings: [String] = []
    for await event in events {
      if case .warning(let failure) = event { warnings.append(failure.message) }
    }
    #expect(warnings == ["The command for \(name) still runs."])
    let number = try String(contentsOfFile: running, encoding: .utf8)
    let process = "/proc/" + number.trimmingCharacters(in: .newlines)
    #expect(FileManager.default.fileExists(atPath: process))
    try FileManager.default.removeItem(atPath: running)
    // It does not remain as a process whose end was not waited for.
    for _ in 0..<20_000 where FileManager.default.fileExists(atPath: process) { usleep(1000) }
    #expect(!FileManager.default.fileExists(atPath: process))
    #expect(recording.report?.frames == 4800)
  }

  @Test func `rules that keep no files are refused`() async throws {
    let engine = DuplexEngine(device: device)
    let recording = try await engine.record(
      to: folder("kept.wav"), settings { $0.keep = .files(0) })
    do throws(EngineFailure) {
      try await engine.start()
      Issue.record("No file is kept.")
    } catch {
      guard case .file(let failure) = error else { throw error }
      #expect(failure.kind == .invalidRequest && recording.report?.failure == failure)
    }
  }

  @Test func `the rules for the files are also properties of the settings`() {
    let settings = settings {
      $0.split = .silence
      $0.fileRules.keep = .seconds(1)
    }
    #expect(settings.fileRules.split == .silence && settings.keep == .seconds(1))
    #expect(RecordingSettings().fileRules == RecordingFileRules())
  }
}

/// The events by polling, which is deprecated and still works.
private protocol PolledEvents { func takeEvents() -> [RecordingEvent] }

extension EngineRecording: PolledEvents {
  var polledEvents: [RecordingEvent] { (self as any PolledEvents).takeEvents() }
}
