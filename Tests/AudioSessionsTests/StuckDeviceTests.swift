import AudioBasics
import AudioDevices
import AudioFiles
import RealtimeAudio
import TemporaryFolders
import Testing

@testable import AudioSessions

/// Tests of sessions in real time on a device of which one call does not return before the end of
/// the test.
@Suite struct StuckDeviceTests {
  enum Call: Sendable {
    case start, wait, stop, close
    /// The start is refused at once.
    case refusal
    /// An xrun occurs, and the recovery does not return.
    case recovery
    /// Each call returns, but no more frames arrive.
    case stillness
  }

  /// Background work that records how it was ended.
  private final class Ending: BackgroundWork {
    private let concluded = AtomicFlag()
    private let abandoned = AtomicFlag()
    var isConcluded: Bool { concluded.isRaised }
    var isAbandoned: Bool { abandoned.isRaised }

    func step() -> Bool { !isConcluded && !isAbandoned }
    func conclude() { concluded.raise() }
    func abandon() { abandoned.raise() }
  }

  @Test(arguments: [Call.start, .wait, .stop, .close])
  func `a stop ends a session on a stuck device, and its work is concluded or abandoned`(call: Call)
    throws
  {
    let released = AtomicFlag()
    defer { released.raise() }
    let work = Ending()
    let runner = SessionRunner(
      device: StuckDevice(in: call, until: released),
      callbacks: Mixer(periodFrames: 64, captureChannels: 1, playbackChannels: 0),
      background: [work], meter: nil, frameLimit: nil)
    let report = try runner.run(clock: .real(.normal)) { moment, _ in
      HostClock.pause(milliseconds: 1)
      return moment.frames > 0 || call == .start || call == .wait ? .stop(.signal) : .proceed
    }
    guard case .signal = report.stopReason else { Issue.record("It was a signal."); return }
    #expect(report.isDeviceStuck)
    // The last frame is known only if the audio thread has ended.
    #expect(work.isAbandoned == (call == .start || call == .wait))
    #expect(work.isConcluded == (call == .stop || call == .close))
  }

  @Test func `an xrun from which a stuck device does not recover is reported at the end`() throws {
    let released = AtomicFlag()
    defer { released.raise() }
    let runner = SessionRunner(
      device: StuckDevice(in: .recovery, after: 10, until: released),
      callbacks: Mixer(periodFrames: 64, captureChannels: 1, playbackChannels: 0),
      background: [], meter: nil, frameLimit: nil)
    var reported: [TimelineEvent] = []
    let report = try runner.run(clock: .real(.normal)) { moment, _ in
      HostClock.pause(milliseconds: 1)
      reported += moment.events
      return moment.captureXruns > 0 ? .stop(.signal) : .proceed
    }
    #expect(report.isDeviceStuck && report.captureXruns == 1)
    #expect(reported == [TimelineEvent(kind: .captureXrun, frame: 640, frames: 0)])
    #expect(report.events == reported)
  }

  @Test(arguments: [true, false])
  func `a sound server has a second to close, until the user asks again`(isServer: Bool) {
    var stream = StreamConfiguration(
      device: "d", sampleRate: 48000, channelCount: 2, format: .floatLE, periodFrames: 64,
      bufferFrames: 8192)
    stream.isServer = isServer
    let device = DuplexConfiguration(
      sampleRate: 48000, periodFrames: 64, headroomFrames: 64, capture: stream, playback: stream)
    var timeout = EndTimeout(closing: device, draining: true, isUrgent: true, at: 1000)
    #expect(timeout.deadline == (isServer ? 1_000_001_000 : 200_001_000))
    timeout.shorten(at: 2000)
    #expect(timeout.deadline == (isServer ? 200_002_000 : 200_001_000))
  }

  @Test func `a requested end reports for how long the device was stalled`()
    throws
  {
    var runner = SessionRunner(
      device: StuckDevice(in: .stillness, after: 10, until: AtomicFlag()),
      callbacks: Mixer(periodFrames: 64, captureChannels: 1, playbackChannels: 0),
      background: [], meter: nil, frameLimit: nil)
    // A clock that stands while frames arrive, and then advances by a second in each call of the
    // watcher, up to the stop.
    var seconds: UInt64 = 0
    runner.time.now = { seconds * 1_000_000_000 }
    let report = try runner.run(clock: .real(.normal)) { moment, _ in
      guard moment.frames == 640, seconds < 4 else { return .proceed }
      seconds += 1
      return seconds == 4 ? .stop(.key) : .proceed
    }
    #expect(report.frames == 640)
    // Three seconds, less the first if the last cycle was over only during the first call.
    #expect((2...3).contains(report.stalledSeconds))
    #expect(!report.isDeviceStuck)
  }

  @Test(arguments: [false, true])
  func `a device that fails to start throws, is never reported as running, and ends its work`(
    isVirtual: Bool
  ) throws {
    let work = Ending()
    let runner = SessionRunner(
      device: StuckDevice(in: .refusal, until: AtomicFlag()),
      callbacks: Mixer(periodFrames: 64, captureChannels: 1, playbackChannels: 0),
      background: [work], meter: nil, frameLimit: 640)
    var wasRunning = false
    do throws(DeviceFailure) {
      _ = try runner.run(clock: isVirtual ? .virtual : .real(.normal)) { moment, _ in
        wasRunning = wasRunning || moment.isRunning
        return .proceed
      }
      Issue.record("It started.")
    } catch {
      #expect(error.message == "It does not start.")
    }
    #expect(!wasRunning)
    #expect(work.isConcluded || work.isAbandoned)
  }

  @Test func `frames received before the device became stuck are in a complete file`() throws {
    let released = AtomicFlag()
    defer { released.raise() }
    let folder = TemporaryFolder()
    let path = folder("take.wav")
    let plan = RecordingPlan(
      path: path, fileFormat: .wav, sampleFormat: .float, sampleRate: 48000, channelCount: 1)
    let writer = try RecordingWriter(plan, ringFrames: 48000)
    var callbacks = Mixer(periodFrames: 64, captureChannels: 1, playbackChannels: 0)
    callbacks.inputRecorder = writer.takeRecorder()
    let runner = SessionRunner(
      device: StuckDevice(in: .wait, after: 10, until: released), callbacks: callbacks,
      background: [writer],
      meter: nil, frameLimit: nil)
    _ = try runner.run(clock: .real(.normal)) { moment, _ in
      HostClock.pause(milliseconds: 1)
      return moment.frames == 640 ? .stop(.key) : .proceed
    }
    #expect(writer.report.frames == 640)
    let decoder = try Decoding.decoder(forPath: path)
    #expect(decoder.frameCount == 640)
  }
}

/// An input that is always ready until one call does not return.
private struct StuckDevice: DuplexDriver, ~Copyable, @unchecked Sendable {
  // @unchecked because one thread at a time uses it.
  let configuration: DuplexConfiguration
  private let call: StuckDeviceTests.Call
  private var rest: Int
  private let released: AtomicFlag
  private let memory: DeviceBuffer

  init(in call: StuckDeviceTests.Call, after cycles: Int = 0, until released: AtomicFlag) {
    self.call = call
    self.released = released
    rest = cycles
    configuration = DuplexConfiguration(
      sampleRate: 48000, periodFrames: 64, headroomFrames: 64,
      capture: StreamConfiguration(
        device: "stuck", sampleRate: 48000, channelCount: 1, format: .floatLE, periodFrames: 64,
        bufferFrames: 640),
      playback: nil)
    memory = DeviceBuffer(format: .floatLE, channelCount: 1, frameCount: 64)
  }

  deinit { if call == .close { hang() } }

  private func hang() {
    while !released.isRaised { HostClock.pause(milliseconds: 1) }
  }

  var now: UInt64 { HostClock.nanoseconds }

  static let function: DriverFunction = {
    perform($1, on: $0.assumingMemoryBound(to: StuckDevice.self), storing: $2)
  }

  mutating func start() throws(DeviceFailure) {
    if call == .start { hang() }
    if call == .refusal { throw DeviceFailure(.refused, "It does not start.", hint: "Wait.") }
  }

  mutating func wait(noLongerThan nanoseconds: UInt64, _ status: inout DeviceStatus) {
    status.readiness = poll()
    status.periodTime = now
    status.readyTime = now
    status.lostFrames = 0
  }

  private mutating func poll() -> DeviceReadiness {
    if call == .wait, rest == 0 {
      hang()
      return .waiting
    }
    if call == .recovery, rest == 0 { return .xrun(.captureXrun) }
    if call == .stillness, rest == 0 {
      HostClock.pause(milliseconds: 10)
      return .waiting
    }
    rest -= 1
    HostClock.pause(milliseconds: 1)
    return .ready
  }

  mutating func capturedFrames(_ frames: Int) -> DeviceFrames? { memory.frames(frames) }
  mutating func release(_ frames: Int) {}
  mutating func playbackRoom(_ frames: Int) -> DeviceFrames? { nil }
  mutating func commit(_ frames: Int) {}
  mutating func takeEvent() -> DeviceEvent? { nil }
  func secondaryReading(_ index: Int) -> SecondaryOutputReading? { nil }
  mutating func recover() throws(DeviceFailure) { hang() }
  mutating func enableReconnection(reportingTo news: MutexBox<DeviceReturn?>) {}
  mutating func close() {}
  mutating func pollForReconnection() -> DeviceReturn { .absent }
  mutating func stop(draining: Bool) { if call == .stop { hang() } }
}
