import Duplex
import TemporaryFolders
import Testing

/// Tests of the times at which recordings report, and of the requests that they refuse.
@Suite struct EngineRecordingTests {
  private let folder = TemporaryFolder()

  @Test func `a recording whose engine is released before its start has no frames`()
    async throws
  {
    var engine: DuplexEngine? = DuplexEngine(device: "sim:clock=free")
    let recording = try #require(try await engine?.record(to: folder("none.wav")))
    engine = nil
    #expect(await recording.stop().frames == 0)
  }

  @Test func `a recording can be stopped, and another started, while the device is absent`()
    async throws
  {
    var settings = DuplexEngine.Settings()
    settings.reconnects = true
    let engine = DuplexEngine(device: "sim:clock=free,noise=-20,unplug-at=0.2", settings)
    var events = engine.events.makeAsyncIterator()
    let recording = try await engine.record(to: folder("first.wav"))
    try await engine.start()
    while let event = await events.next() {
      if case .timeline(let event) = event, event.kind == .deviceLost { break }
    }
    let kept = await recording.stop().frames
    #expect(kept > 9000 && kept <= 9600)
    let second = try await engine.record(to: folder("second.wav"))
    #expect(await second.stop().frames == 0)
    await engine.stop()
  }

  @Test
  func `markers, splits and pauses of a later recording are at their frames of the run`()
    async throws
  {
    let engine = DuplexEngine(device: "sim:clock=free,noise=-20")
    try await engine.start()
    await engine.passes(frames: 480_000)
    let before = engine.status.frames
    let recording = try await engine.record(to: folder("late-%02d.wav"))
    await engine.passes(frames: 48000)
    recording.mark("here")
    recording.split()
    recording.pause()
    let asked = engine.status.frames
    await engine.passes(frames: 480_000)
    recording.resume()
    await engine.passes(frames: 48000)
    let report = await recording.stop()
    await engine.stop()
    let events = recording.polledEvents
    #expect(
      events.contains { if case .marker(let marker) = $0 { marker.label == "here" } else { false } }
    )
    #expect(events.contains { if case .paused = $0 { true } else { false } })
    let marker = try #require(report.markers.first)
    #expect(marker.label == "here")
    // In virtual time the disk thread may lag behind or run ahead of the requesting task.
    let latest = asked + 240_000
    #expect(marker.frame > 0 && marker.frame <= latest - before)
    let pause = try #require(report.pauses.first)
    #expect(pause.timelineFrame >= before && pause.timelineFrame <= latest)
    #expect(pause.frames > 0)
    let segment = try #require(report.segments.first)
    #expect(segment.timelineFrame >= before && segment.timelineFrame <= latest)
    #expect(report.files.count == 2)
  }

  @Test func `a recording that starts during a change of rate has the engine's rate`() async throws
  {
    for round in 0..<50 {
      let engine = DuplexEngine(device: "sim:clock=free,noise=-20")
      try await engine.start()
      var other = DeviceSelection(device: "sim:clock=free,noise=-30")
      other.request.sampleRate = 44100
      async let change: Void = {
        do throws(EngineFailure) {
          try await engine.use(other)
        } catch {
          guard case .recordingAtRate = error else { throw error }
        }
      }()
      let path = folder("rate-\(round).wav")
      let recording = try await engine.record(to: path)
      try await change
      await engine.passes(frames: 4800)
      let rate = try #require(engine.status.configuration).sampleRate
      await recording.stop()
      await engine.stop()
      #expect(try SoundFileReader(path: path).sampleRate == rate)
    }
  }

  @Test func `recording microphone and output to the same file is refused`() async throws {
    let engine = DuplexEngine(device: "sim:clock=free")
    var settings = RecordingSettings()
    settings.overwrite = true
    try await engine.start()
    let recording = try await engine.record(to: folder("both.wav"), settings)
    settings.source = .output
    do throws(EngineFailure) {
      try await engine.record(to: folder("both.wav"), settings)
      Issue.record("Two recordings have one name.")
    } catch {
      guard case .file(let failure) = error else { throw error }
      #expect(failure.kind == .cannotCreate)
    }
    await engine.stop()
    #expect(recording.report?.failure == nil)
  }

  @Test(arguments: [true, false])
  func `recording to a file that is played or read as a microphone is refused`(isPlayed: Bool)
    async throws
  {
    let song = folder("song.wav")
    let source = DuplexEngine(device: "sim:clock=free,noise=-20")
    try await source.record(to: song)
    try await source.run(seconds: 1)
    let engine = DuplexEngine(device: "sim:clock=free" + (isPlayed ? "" : ",mic=\(song)"))
    if isPlayed {
      engine.player.enqueue(path: song)
      engine.player.play()
    }
    var settings = RecordingSettings()
    settings.overwrite = true
    try await engine.record(to: song, settings)
    do throws(EngineFailure) {
      try await engine.run(seconds: 1)
      Issue.record("It was replaced.")
    } catch {
      guard case .file(let failure) = error else { throw error }
      #expect(failure.kind == .invalidRequest)
    }
    #expect(try SoundFileReader(path: song).frameCount == 48000)
  }

  @Test func `a file name with a zero byte is refused`() async throws {
    let engine = DuplexEngine(device: "sim:clock=free")
    try await engine.record(to: folder("a") + "\0b.wav")
    do throws(EngineFailure) {
      try await engine.run(seconds: 0.1)
      Issue.record("It has another name.")
    } catch {
      guard case .file(let failure) = error else { throw error }
      #expect(failure.kind == .cannotCreate && failure.message.contains("zero byte"))
    }
    #expect((try? SoundFileReader(path: folder("a"))) == nil)
  }
}
