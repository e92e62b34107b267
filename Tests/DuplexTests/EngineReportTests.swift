import Duplex
import TemporaryFolders
import Testing

/// Tests of what the reports of an engine state about a run, as the summary of the tool does.
@Suite struct EngineReportTests {
  private let folder = TemporaryFolder()

  @Test(arguments: [0, 240])
  func `the report of a run has its configuration, seconds and latency`(lookAhead: Int) async throws
  {
    var settings = DuplexEngine.Settings()
    settings.limitLookAheadSeconds = Double(lookAhead) / 48000
    var selection = DeviceSelection(device: "sim:clock=free,noise=-20")
    selection.request.periodFrames = 64
    selection.request.headroomFrames = 32
    let engine = DuplexEngine(selection, settings)
    let report = try await engine.run(seconds: 1.5)
    #expect(report.seconds == 1.5 && report.configuration?.periodFrames == 64)
    #expect(report.callbackDelayFrames == lookAhead)
    #expect(report.latencyFrames == Double(96 + lookAhead))
    #expect(engine.status.limiterDelayFrames == lookAhead)
  }

  @Test func `a run without an output has no latency`() async throws {
    let report = try await DuplexEngine(input: "sim:clock=free", output: nil).run(seconds: 0.5)
    #expect(report.latencyFrames == nil && report.seconds == 0.5)
    #expect(report.configuration?.playback == nil && report.configuration?.capture != nil)
    #expect(SessionReport().latencyFrames == nil && SessionReport().seconds == 0)
  }

  @Test func `a device that delivers in steps adds to the latency`() async throws {
    let engine = DuplexEngine(device: "sim:clock=free,drift=20,batch=960,noise=-20")
    let report = try await engine.run(seconds: 5)
    let configuration = try #require(report.configuration)
    #expect(report.addedLatencyFrames > 0)
    #expect(
      report.latencyFrames == configuration.latencyFrames + Double(report.addedLatencyFrames))
  }

  @Test func `the seconds of a run on devices of several rates are their sum`() async throws {
    let engine = DuplexEngine(device: "sim:clock=free,noise=-20")
    try await engine.start()
    await engine.passes(frames: 4800)
    var other = DeviceSelection(device: "sim:clock=free,rate=24000")
    other.request.sampleRate = 24000
    try await engine.use(other)
    await engine.passes(frames: 4800)
    let report = await engine.stop()
    #expect(report.configuration?.sampleRate == 24000)
    #expect(abs(report.seconds - engine.status.seconds) < 1e-9)
    #expect(report.seconds > Double(report.frames) / 48000)
  }

  @Test func `the status counts the frames that the limiter lowered`() async throws {
    var settings = DuplexEngine.Settings()
    settings.suppressesFeedback = false
    settings.limitDBFS = -30
    let engine = DuplexEngine(device: "sim:clock=free,gain=-200,noise=-20", settings)
    try await engine.run(seconds: 1)
    #expect(engine.status.limitedFrames > 1000)
    settings.limitDBFS = nil
    let open = DuplexEngine(device: "sim:clock=free,gain=-200,noise=-20", settings)
    try await open.run(seconds: 1)
    #expect(open.status.limitedFrames == 0)
  }

  @Test func `the report of a recording has its formats and its length in seconds`() async throws {
    let engine = DuplexEngine(device: "sim:clock=free,noise=-20")
    var settings = RecordingSettings()
    settings.sampleFormat = .s16
    let recording = try await engine.record(to: folder("take.flac"), settings)
    try await engine.run(seconds: 0.5)
    let report = try #require(recording.report)
    #expect(report.fileFormat == .flac && report.sampleFormat == .s16)
    #expect(report.sampleRate == 48000 && report.channelCount == 2 && report.seconds == 0.5)
  }

  @Test func `the lost frames of a recording are those of the run and its own`() async throws {
    let engine = DuplexEngine(device: "sim:clock=free,noise=-20,xrun-at=0.2")
    let recording = try await engine.record(to: folder("torn.wav"))
    let report = try await engine.run(seconds: 1)
    var recorded = try #require(recording.report)
    #expect(report.lostFrames(in: recorded) == 480)
    recorded.overflowFrames = 100
    recorded.lostFrames = 20
    #expect(report.lostFrames(in: recorded) == 600)
    // A recording that its disk ended after 0.6 s lacks the rest.
    recorded.frames = 28_800
    for index in recorded.segments.indices { recorded.segments[index].frames = 28_800 }
    #expect(report.lostFrames(in: recorded) == 600)
    recorded.failure = FileFailure(.diskFull, "It is full.", hint: "Make room.")
    #expect(report.lostFrames(in: recorded) == 600 + 19_200)
  }
}
