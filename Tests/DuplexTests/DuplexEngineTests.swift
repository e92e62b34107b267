import Duplex
import Foundation
import TemporaryFolders
import Testing

@Suite struct DuplexEngineTests {
  private let folder = TemporaryFolder()

  @Test func `a run of 2 s has 96000 frames and records as many`() async throws {
    let engine = DuplexEngine(device: "sim:clock=free,noise=-20")
    let recording = try await engine.record(to: folder("note.wav"))
    let report = try await engine.run(seconds: 2)
    #expect(report.frames == 96000)
    #expect(report.lostFrames == 0)
    #expect(recording.report?.frames == 96000)
    #expect(engine.status.phase == .stopped)
    let file = try SoundFileReader(path: folder("note.wav"))
    #expect(file.frameCount == 96000)
  }

  @Test func `a start on a device that does not exist throws and leaves the engine stopped`() async
  {
    let engine = DuplexEngine(device: "hw:CARD=nowhere")
    await #expect(throws: EngineFailure.self) { try await engine.start() }
    #expect(engine.status.phase == .stopped)
  }

  @Test func `a start fails if the file format of a recording is unknown`() async throws {
    let engine = DuplexEngine(device: "sim:clock=free")
    _ = try await engine.record(to: folder("nowhere/note.xyz"))
    await #expect(throws: EngineFailure.unknownFormat(path: folder("nowhere/note.xyz"))) {
      try await engine.start()
    }
  }

  @Test func `a recording starts and stops while the engine runs`() async throws {
    let engine = DuplexEngine(device: "sim:clock=free,noise=-20")
    try await engine.start()
    let recording = try await engine.record(to: folder("part.wav"))
    await engine.passes(frames: 48000)
    await #expect(throws: EngineFailure.alreadyRecording(.microphone)) {
      try await engine.record(to: folder("other.wav"))
    }
    let report = await recording.stop()
    #expect(report.frames > 0)
    #expect(report.failure == nil)
    let second = try await engine.record(to: folder("second.wav"))
    await engine.passes(frames: 48000)
    let total = await engine.stop()
    #expect(second.report.map { $0.frames > 0 } == true)
    #expect(total.frames >= report.frames)
  }

  @Test func `a recording requested while devices are opened starts when the engine runs`()
    async throws
  {
    for take in 0..<20 {
      let engine = DuplexEngine(device: "sim:clock=free,noise=-20")
      engine.start { _ in }
      let recording = try await engine.record(to: folder("take-\(take).wav"))
      await engine.passes(frames: 24000)
      #expect(await recording.stop().frames > 0)
      await engine.stop()
    }
  }

  @Test func `stopping a recording after its engine returns the recorded frames`() async throws {
    let engine = DuplexEngine(device: "sim:clock=free,noise=-20")
    let recording = try await engine.record(to: folder("kept.wav"))
    try await engine.run(seconds: 1)
    #expect(await recording.stop().frames == 48000)
    #expect(await recording.stop().frames == 48000)
    #expect(recording.report?.frames == 48000)
  }

  @Test func `a recording continues across a change of device`() async throws {
    let engine = DuplexEngine(device: "sim:clock=free,noise=-20")
    let recording = try await engine.record(to: folder("long.wav"))
    try await engine.start()
    await engine.passes(frames: 24000)
    let configuration = try await engine.use(
      DeviceSelection(device: "sim:clock=free,noise=-30,rate=44100"))
    #expect(configuration?.sampleRate == 48000)
    await engine.passes(frames: 24000)
    let report = await engine.stop()
    #expect(recording.report?.frames == report.frames)
    #expect(recording.report?.failure == nil)
    #expect(report.events.contains { $0.kind == .deviceReturned })
  }

  @Test func `a start right after a stop leaves the engine running`() async throws {
    let engine = DuplexEngine(device: "sim:clock=free")
    for _ in 0..<50 {
      try await engine.start()
      engine.stop { _ in }
      try await engine.start()
      #expect(engine.status.phase == .running)
      await engine.stop()
    }
    #expect(engine.status.phase == .stopped)
  }

  @Test func `effects stay active across a change of device`() async throws {
    let engine = DuplexEngine(device: "sim:clock=free,gain=-200,noise=-20")
    engine.insert(Muting())
    var settings = RecordingSettings()
    settings.source = .output
    let output = try await engine.record(to: folder("out.wav"), settings)
    try await engine.start()
    await engine.passes(frames: 24000)
    try await engine.use(DeviceSelection(device: "sim:clock=free,gain=-200,noise=-10,channels=2"))
    await engine.passes(frames: 24000)
    await engine.stop()
    #expect(output.report.map { $0.levels.samplePeaks.allSatisfy { $0 == 0 } } == true)
  }

  @Test func `a failed change of device leaves the engine running on its device`() async throws {
    let engine = DuplexEngine(device: "sim:clock=free,noise=-20")
    try await engine.start()
    await #expect(throws: EngineFailure.self) {
      try await engine.use(DeviceSelection(device: "hw:CARD=nowhere"))
    }
    #expect(engine.status.phase == .running)
    #expect(engine.selection.deviceNames.first == "sim:clock=free,noise=-20")
    await engine.stop()
  }

  @Test func `an effect changes the output and not the recording of the microphone`()
    async throws
  {
    let engine = DuplexEngine(device: "sim:clock=free,gain=-200,noise=-20")
    engine.insert(Muting())
    let microphone = try await engine.record(to: folder("mic.wav"))
    var settings = RecordingSettings()
    settings.source = .output
    let output = try await engine.record(to: folder("out.wav"), settings)
    try await engine.run(seconds: 0.5)
    #expect(microphone.report.map { $0.levels.samplePeaks.allSatisfy { $0 > 0.03 } } == true)
    #expect(output.report.map { $0.levels.samplePeaks.allSatisfy { $0 == 0 } } == true)
  }

  @Test func `an effect on the input is recorded by an engine without an output`()
    async throws
  {
    let engine = DuplexEngine(input: "sim:clock=free,noise=-20", output: nil)
    let dry = try await engine.record(to: folder("dry.wav"))
    try await engine.start()
    await engine.passes(frames: 24000)
    await dry.stop()
    engine.insert(Muting(), at: .input)
    await engine.passes(frames: 24000)
    let wet = try await engine.record(to: folder("wet.wav"))
    await engine.passes(frames: 24000)
    await engine.stop()
    #expect(dry.report.map { $0.levels.samplePeaks.allSatisfy { $0 > 0.03 } } == true)
    #expect(
      wet.report.map { $0.frames > 0 && $0.levels.samplePeaks.allSatisfy { $0 == 0 } } == true)
  }

  @Test func `an effect generates the output of an engine without an input`() async throws {
    let engine = DuplexEngine(input: nil, output: "sim:clock=free")
    engine.insert(Clicking())
    var settings = RecordingSettings()
    settings.source = .output
    let output = try await engine.record(to: folder("clicks.wav"), settings)
    try await engine.run(seconds: 0.5)
    #expect(output.report.map { $0.levels.samplePeaks.allSatisfy { $0 == 0.5 } } == true)
  }

  @Test
  func `the status keeps the length of the last run until the next run starts`()
    async throws
  {
    let engine = DuplexEngine(device: "sim:clock=free,rate=44100,xrun-at=0.5")
    #expect(engine.status.seconds == 0)
    try await engine.run(seconds: 2)
    #expect(engine.status.phase == .stopped)
    #expect(engine.status.configuration == nil)
    #expect(engine.status.seconds == 2)
    #expect(engine.status.captureXruns == 1)
    try await engine.run(seconds: 0.25)
    #expect(engine.status.seconds == 0.25)
    #expect(engine.status.captureXruns == 0)
  }

  @Test func `a player first used while the engine runs is audible in the output`() async throws {
    let song = DuplexEngine(device: "sim:clock=free,noise=-20")
    try await song.record(to: folder("song.wav"))
    try await song.run(seconds: 1)
    let engine = DuplexEngine(device: "sim:clock=free,gain=-200")
    var settings = RecordingSettings()
    settings.source = .output
    let output = try await engine.record(to: folder("out.wav"), settings)
    try await engine.start()
    await engine.passes(frames: 24000)
    engine.player.enqueue(path: folder("song.wav"))
    engine.player.play()
    while engine.player.playedFrame < 24000 { await engine.passes(frames: 4800) }
    await engine.stop()
    #expect(output.report.map { $0.levels.samplePeaks.allSatisfy { $0 > 0.03 } } == true)
  }

  @Test func `an input gain of silence mutes the recording of the microphone`() async throws {
    let engine = DuplexEngine(device: "sim:clock=free,gain=-200,noise=-20")
    engine.inputGain = .silence
    let recording = try await engine.record(to: folder("quiet.wav"))
    try await engine.run(seconds: 0.5)
    #expect(recording.report.map { $0.levels.samplePeaks.allSatisfy { $0 == 0 } } == true)
    #expect(engine.inputGain == .silence)
  }

  @Test func `the player continues across a change of device`() async throws {
    let engine = DuplexEngine(device: "sim:clock=free,noise=-20")
    try await engine.record(to: folder("song.wav"))
    // The run is long enough that it has not ended in virtual time before this task, which may have
    // to wait for a processor, continues.
    try await engine.run(seconds: 30)
    let playing = DuplexEngine(input: nil, output: "sim:clock=free", .playing)
    playing.player.enqueue(path: folder("song.wav"))
    playing.player.enqueue(path: folder("song.wav"))
    playing.player.play()
    let played = MutexBox(0)
    playing.player.addEventHandler { _ in played.withLock { $0 += 1 } }
    try await playing.start()
    await playing.passes(frames: 48000)
    try await playing.use(DeviceSelection(input: nil, output: "sim:clock=free,rate=44100"))
    let report = await playing.finished()
    #expect(report.frames >= 60 * 48000 - 2)
    #expect(playing.player.isQueueEmpty)
    #expect(playing.player.starvedFrameCount == 0)
    #expect(played.withLock { $0 } > 0)
  }

  @Test
  func `a run whose player is in use elsewhere fails, keeps no file, and can be repeated`()
    async throws
  {
    let engine = DuplexEngine(device: "sim:clock=free,noise=-20")
    let recording = try await engine.record(to: folder("none.wav"))
    let elsewhere = try engine.player.attach(
      to: AudioPlayer.Shape(sampleRate: 48000, channelCount: 2, periodFrames: 512))
    for work in engine.player.background { _ = work.step() }
    do throws(EngineFailure) {
      try await engine.run(seconds: 1)
      Issue.record("The player plays in two sessions.")
    } catch {
      guard case .device(let failure) = error else { throw error }
      #expect(failure.kind == .busy)
    }
    #expect(engine.status.phase == .stopped)
    #expect(recording.report?.frames == 0)
    #expect((try? SoundFileReader(path: folder("none.wav"))) == nil)
    _ = consume elsewhere
    engine.player.detach()
    let again = try await engine.record(to: folder("again.wav"))
    #expect(try await engine.run(seconds: 1).frames == 48000)
    #expect(again.report?.frames == 48000)
  }

  @Test func `events reach the stream and the handlers`() async throws {
    let engine = DuplexEngine(device: "sim:clock=free,xrun-at=0.5")
    let seen = MutexBox<[String]>([])
    let subscription = engine.addEventHandler { event in
      if case .timeline(let event) = event { seen.withLock { $0.append("\(event.kind)") } }
    }
    var events = engine.events.makeAsyncIterator()
    let report = try await engine.run(seconds: 1)
    #expect(report.captureXruns == 1)
    #expect(seen.withLock { $0 } == ["captureXrun"])
    guard case .running = await events.next() else {
      Issue.record("The first event is that sound runs.")
      return
    }
    subscription.cancel()
  }

  @Test func `starts and stops from four threads leave the engine stopped`() async throws {
    let engine = DuplexEngine(device: "sim:clock=free")
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask {
          for _ in 0..<250 {
            // Another task may stop the engine in between.
            _ = try? await engine.start()
            await engine.stop()
          }
        }
      }
    }
    await engine.stop()
    #expect(engine.status.phase == .stopped)
  }
}

extension DuplexEngine.Settings {
  /// Settings with which an engine ends with its player.
  fileprivate static var playing: DuplexEngine.Settings {
    var settings = DuplexEngine.Settings()
    settings.endsWithPlayer = true
    return settings
  }
}

/// An effect that plays silence.
private struct Muting: AudioEffect {
  @_noLocks
  mutating func process(_ frames: inout EffectFrames) {
    for sample in 0..<frames.sampleCount { frames[sample] = 0 }
  }
}

/// An effect that plays one sample in each cycle.
private struct Clicking: AudioEffect {
  @_noLocks
  mutating func process(_ frames: inout EffectFrames) {
    for channel in 0..<frames.channelCount { frames[0, channel] = 0.5 }
  }
}

extension DuplexEngine {
  /// Waits until the timeline has advanced by `frames`, or the engine has stopped.
  func passes(frames: Int) async {
    let updates = statusUpdates
    let end = status.frames + frames
    guard status.phase != .stopped else { return }
    for await status in updates where status.frames >= end || status.phase == .stopped { return }
  }
}
