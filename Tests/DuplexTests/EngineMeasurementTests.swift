import Foundation
import TemporaryFolders
import Testing

@testable import Duplex

/// Tests of the measurement of the round trip by an engine, in virtual time.
@Suite struct EngineMeasurementTests {
  private let folder = TemporaryFolder()

  private func failure(
    of device: DeviceSelection, _ change: (inout RoundTripSettings) -> Void = { _ in }
  ) async -> EngineFailure? {
    var settings = RoundTripSettings()
    change(&settings)
    do throws(EngineFailure) {
      _ = try await DuplexEngine(device).measureRoundTrip(settings)
      return nil
    } catch {
      return error
    }
  }

  @Test(arguments: [0, 63.5, 1234.25])
  func `the parts of a measured round trip are those of the unit and of the wire`(delay: Double)
    async throws
  {
    var selection = DeviceSelection(device: "sim:clock=free,delay=\(delay)")
    selection.request.periodFrames = 64
    selection.request.headroomFrames = 32
    let measured = try await DuplexEngine(selection).measureRoundTrip()
    #expect(measured.unitFrames == 96)
    #expect(abs(measured.externalFrames - delay) < 0.001)
    #expect(abs(measured.roundTrip.frames - 96 - delay) < 0.001)
    #expect(measured.roundTrip.seconds == measured.roundTrip.frames / 48000)
    #expect(measured.roundTrip.verdict == .trusted && measured.roundTrip.doubts.isEmpty)
    #expect(measured.estimates.count == 2 && measured.trips.rejected == 0)
    #expect(measured.configuration.periodFrames == 64 && measured.report.frames > 5 * 48000)
  }

  @Test func `settings select channels, level and number of measurements`() async throws {
    var settings = RoundTripSettings()
    settings.repeats = 2
    settings.fromChannel = 1
    settings.toChannel = 1
    settings.levelCapDBFS = -24
    let engine = DuplexEngine(device: "sim:clock=free,delay=10,noise=-60,invert=1")
    let measured = try await engine.measureRoundTrip(settings)
    #expect(measured.estimates.count == 1 && measured.roundTrip.pair.estimates.count == 2)
    #expect(measured.roundTrip.pair.fromChannel == 1 && measured.roundTrip.pair.toChannel == 1)
    #expect(measured.trips.levelDBFS <= -24 && measured.roundTrip.isInverted)
  }

  @Test func `a delay that drifts little is doubtful, and one that drifts more is refused`()
    async throws
  {
    let little = DuplexEngine(device: "sim:clock=free,delay=300,drift=50,batch=480,jitter=1")
    let steady = try await little.measureRoundTrip().roundTrip
    #expect(steady.verdict == .doubtful && steady.doubts == [.drifting])
    #expect(steady.objections.isEmpty)
    var selection = DeviceSelection(device: "sim:clock=free,delay=1234,drift=300,tick=10,jitter=3")
    selection.request.periodFrames = 1024
    let loose = try await DuplexEngine(selection).measureRoundTrip().roundTrip
    #expect(loose.verdict == .refused && loose.objections.contains(.drifting))
    #expect(loose.interval95.upperBound > loose.interval95.lowerBound)
  }

  @Test func `a missing wire is a failure with the levels`() async {
    let found = await failure(of: DeviceSelection(device: "sim:clock=free,gain=-200,noise=-50"))
    guard case .noRoundTrip(.noSignal(let level, let noise)) = found else {
      Issue.record("\(String(describing: found))")
      return
    }
    #expect(level == -12 && abs(noise + 50) < 0.5)
    #expect(found?.message.contains("nothing of the test signal") == true)
    #expect(found?.hint.isEmpty == false)
  }

  @Test func `a device that loses frames in every measurement is a failure`() async {
    // The gap-free parts are longer than the measurement of the noise, and shorter than a burst.
    let faults = (1...100).map { ",xrun-at=\(Double($0) / 2 + 0.1)" }.joined()
    let found = await failure(of: DeviceSelection(device: "sim:clock=free" + faults))
    guard case .noRoundTrip(.lostFrames(let count)) = found else {
      Issue.record("\(String(describing: found))")
      return
    }
    #expect(count > 10 && found?.message.contains("\(count) measurements") == true)
  }

  @Test func `a device that goes away is a failure of the device`() async {
    let found = await failure(of: DeviceSelection(device: "sim:clock=free,unplug-at=1"))
    guard case .device(let failure) = found, failure.kind == .lost else {
      Issue.record("\(String(describing: found))")
      return
    }
  }

  @Test func `settings that do not fit the devices are refused`() async {
    func isRefused(
      _ selection: DeviceSelection, _ change: (inout RoundTripSettings) -> Void = { _ in }
    ) async -> Bool {
      guard case .device(let failure) = await failure(of: selection, change) else { return false }
      return failure.kind == .invalidRequest
    }
    let sim = DeviceSelection(device: "sim:clock=free")
    #expect(await isRefused(DeviceSelection(input: "sim:clock=free", output: nil)))
    #expect(await isRefused(DeviceSelection(input: nil, output: "sim:clock=free")))
    for channel in [-1, 2] {
      #expect(await isRefused(sim) { $0.fromChannel = channel })
      #expect(await isRefused(sim) { $0.toChannel = channel })
    }
    for repeats in [0, -1, 10_001] { #expect(await isRefused(sim) { $0.repeats = repeats }) }
    for level in [0.1, -201, .nan, .infinity] {
      #expect(await isRefused(sim) { $0.levelCapDBFS = level })
    }
  }

  @Test func `an engine that runs does not measure, and measures after its stop`() async throws {
    let engine = DuplexEngine(device: "sim:clock=free")
    try await engine.start()
    await #expect(throws: EngineFailure.alreadyRunning) { try await engine.measureRoundTrip() }
    #expect(engine.status.phase == .running)
    await engine.stop()
    let measured = try await engine.measureRoundTrip()
    #expect(abs(measured.roundTrip.frames - 512) < 0.001)
    #expect(engine.status.phase == .stopped)
    #expect(try await engine.run(seconds: 0.5).frames == 24000)
  }

  /// Starts a measurement that would take hours of virtual time.
  private func long(_ engine: DuplexEngine) async -> Task<EngineFailure?, Never> {
    var settings = RoundTripSettings()
    settings.repeats = 10_000
    let task = Task { [settings] () -> EngineFailure? in
      do throws(EngineFailure) {
        _ = try await engine.measureRoundTrip(settings)
        return nil
      } catch {
        return error
      }
    }
    while engine.status.phase == .stopped { await Task.yield() }
    await engine.passes(frames: 1)
    return task
  }

  @Test func `an engine that measures does not run, and a stop ends the measurement`() async throws
  {
    let engine = DuplexEngine(device: "sim:clock=free,noise=-60")
    let measuring = await long(engine)
    #expect(engine.status.phase == .running && engine.status.configuration != nil)
    await #expect(throws: EngineFailure.alreadyRunning) { try await engine.start() }
    await #expect(throws: EngineFailure.alreadyRunning) { try await engine.run(seconds: 1) }
    await #expect(throws: EngineFailure.alreadyRunning) { try await engine.measureRoundTrip() }
    let report = await engine.stop()
    #expect(report.stopReason.isUserRequest && report.frames > 0)
    #expect(await measuring.value == .stopped)
    #expect(engine.status.phase == .stopped && engine.status.configuration == nil)
    #expect(try await engine.run(seconds: 0.5).frames == 24000)
  }

  @Test func `the cancellation of the task ends the measurement`() async throws {
    let engine = DuplexEngine(device: "sim:clock=free,noise=-60")
    let measuring = await long(engine)
    measuring.cancel()
    #expect(await measuring.value == .stopped)
    await engine.finished()
    #expect(abs(try await engine.measureRoundTrip().roundTrip.frames - 512) < 0.01)
  }

  @Test func `a start requested after the stop of a measurement follows it`() async throws {
    let engine = DuplexEngine(device: "sim:clock=free,noise=-60")
    let measuring = await long(engine)
    let stopped = Task { await engine.stop() }
    #expect(await measuring.value == .stopped)
    _ = await stopped.value
    try await engine.start()
    #expect(engine.status.phase == .running)
    await engine.stop()
  }

  @Test func `a recording requested before a measurement begins with the next run`() async throws {
    let engine = DuplexEngine(device: "sim:clock=free,noise=-60")
    let recording = try await engine.record(to: folder("take.wav"))
    _ = try await engine.measureRoundTrip()
    #expect(recording.report == nil)
    try await engine.run(seconds: 0.5)
    #expect(recording.report?.frames == 24000)
  }

  @Test func `an engine is released while it measures`() async throws {
    var engine: DuplexEngine? = DuplexEngine(device: "sim:clock=free,noise=-60")
    let answer = MutexBox<EngineFailure?>(nil)
    let isDone = AtomicFlag()
    var settings = RoundTripSettings()
    settings.repeats = 10_000
    try engine?.thread.begin()
    engine?.worker.measure(settings, isCancelled: AtomicFlag()) { result in
      if case .failure(let failure) = result { answer.withLock { $0 = failure } }
      isDone.raise()
    }
    engine = nil
    #expect(isDone.isRaised && answer.withLock { $0 } == .stopped)
  }

  @Test func `a stored round trip survives an encoder, and fits other periods`() async throws {
    let engine = DuplexEngine(device: "sim:clock=free,delay=300.5")
    let stored = try await engine.measureRoundTrip().stored
    let data = try JSONEncoder().encode(stored)
    #expect(try JSONDecoder().decode(StoredRoundTrip.self, from: data) == stored)
    var selection = DeviceSelection(device: "sim:clock=free,delay=300.5")
    selection.request.periodFrames = 64
    let granted = try OpenDevice(opening: selection).configuration
    #expect(abs((stored.frames(for: granted) ?? 0) - 428.5) < 0.001)
    selection.request.sampleRate = 44100
    let other = try OpenDevice(opening: selection).configuration
    #expect(stored.frames(for: other) == nil)
  }
}
