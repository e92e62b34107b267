import Duplex
import TemporaryFolders
import Testing

/// Tests of recordings across changes of devices.
@Suite struct DeviceChangeTests {
  private let folder = TemporaryFolder()
  private let stereo = "sim:clock=free,noise=-20,gain=-200"

  private func recorded(
    _ source: RecordingSettings.Source, over changes: [DeviceSelection]
  ) async throws -> (recorded: RecordingReport, run: SessionReport) {
    let engine = DuplexEngine(device: stereo)
    engine.insert(Constant(level: 0.5))
    var settings = RecordingSettings()
    settings.source = source
    settings.sampleFormat = .float
    let recording = try await engine.record(to: folder("take.wav"), settings)
    try await engine.start()
    await engine.passes(frames: 4800)
    for selection in changes {
      try await engine.use(selection)
      await engine.passes(frames: 4800)
    }
    let report = await engine.stop()
    return (try #require(recording.report), report)
  }

  /// Returns devices without the recorded direction.
  private func without(_ source: RecordingSettings.Source) -> DeviceSelection {
    source == .microphone
      ? DeviceSelection(input: nil, output: stereo) : DeviceSelection(input: stereo, output: nil)
  }

  @Test(arguments: [RecordingSettings.Source.microphone, .output], [1, 2, 4])
  func `a recording continues if its direction returns with another number of channels`(
    source: RecordingSettings.Source, channels: Int
  ) async throws {
    let next = DeviceSelection(device: "\(stereo),channels=\(channels)")
    let (recorded, run) = try await recorded(source, over: [without(source), next])
    #expect(recorded.failure == nil)
    #expect(recorded.frames == run.frames)
    #expect(recorded.gaps.reduce(0) { $0 + $1.frames } >= 4800)
    #expect(try SoundFileReader(path: folder("take.wav")).channelCount == 2)
  }

  @Test(arguments: [RecordingSettings.Source.microphone, .output])
  func `a recording whose direction is absent at the end is as long as the run`(
    source: RecordingSettings.Source
  ) async throws {
    let (recorded, run) = try await recorded(source, over: [without(source)])
    #expect(recorded.frames == run.frames)
    let gap = try #require(recorded.gaps.last)
    #expect(gap.frames >= 4800 && gap.frame + gap.frames == run.frames)
  }

  @Test(arguments: [RecordingSettings.Source.microphone, .output], [1, 8])
  func `a recording continues on a device with another number of channels`(
    source: RecordingSettings.Source, channels: Int
  ) async throws {
    var next = DeviceSelection(device: "\(stereo),channels=\(channels)")
    next.request.channelCount = channels
    let (recorded, run) = try await recorded(source, over: [next])
    #expect(recorded.failure == nil)
    #expect(recorded.frames == run.frames)
    // Both channels contain a signal up to the end.
    var reader = try SoundFileReader(path: folder("take.wav"))
    var buffer = SampleBuffer(frameCount: recorded.frames, channelCount: 2)
    #expect(try reader.read(into: &buffer) == recorded.frames)
    for channel in 0..<2 {
      let last = (recorded.frames - 2400..<recorded.frames).map { buffer[$0 * 2 + channel] }
      #expect(last.contains { abs($0) > 0.01 })
    }
  }

  @Test func `the timeline continues over devices that are replaced before their first cycle`()
    async throws
  {
    // Not all devices of a round are replaced so early, but some of all rounds are.
    for round in 0..<20 {
      let engine = DuplexEngine(device: stereo)
      let recording = try await engine.record(to: folder("round\(round).wav"))
      let frames = MutexBox<[Int]>([])
      engine.addStatusHandler { status in frames.withLock { $0.append(status.frames) } }
      try await engine.start()
      for _ in 0..<4 { try await engine.use(DeviceSelection(device: stereo)) }
      let run = await engine.stop()
      #expect(recording.report?.frames == run.frames)
      #expect(frames.withLock { $0 == $0.sorted() })
    }
  }

  @Test(arguments: [("sim:clock=free", "sim"), ("sim", "sim:clock=free")])
  func `a change between real and virtual time is refused, and the engine keeps running`(
    first: String, second: String
  ) async throws {
    let engine = DuplexEngine(device: first)
    try await engine.start()
    do throws(EngineFailure) {
      try await engine.use(DeviceSelection(device: second))
      Issue.record("Time of one kind went on as another.")
    } catch {
      #expect(error.message.contains("virtual time"))
    }
    #expect(engine.status.phase == .running)
    #expect(engine.selection.deviceNames.first == first)
    await engine.stop()
  }
}

/// An effect that plays a constant value.
private struct Constant: AudioEffect {
  let level: Float

  @_noLocks
  mutating func process(_ frames: inout EffectFrames) {
    for sample in 0..<frames.sampleCount { frames[sample] = level }
  }
}
