import AudioBasics
import RealtimeAudio
import Testing

@testable import AudioDevices

/// Tests of a resampled device with half of the unit's rate: its own reports, and the reports to
/// the unit.
@Suite struct ResamplingDeviceTests {
  /// The unit's side: 48 kHz and periods of 128 frames, equal to two of the device's.
  private final class Unit {
    private var device: ResamplingDevice
    private(set) var status = DeviceStatus()
    let log = MutexBox(ReportingDevice.Log())

    init(
      _ statuses: [DeviceStatus] = [], events: [DeviceEvent] = [], isEmpty: Bool = false,
      hasCapture: Bool = true, sampleRate: Int = 48000
    ) throws {
      var request = DuplexRequest(
        captureDevice: hasCapture ? "reporting" : nil, playbackDevice: "reporting")
      request.sampleRate = sampleRate
      request.periodFrames = 128
      device = try ResamplingDevice(
        ReportingDevice(
          statuses, events: events, isEmpty: isEmpty, hasCapture: hasCapture, log: log),
        request: request)
      try device.start()
    }

    var configuration: DuplexConfiguration { device.configuration }
    var now: UInt64 { device.now }
    func recover() throws { try device.recover() }
    func reconnect() -> DeviceReturn { device.pollForReconnection() }
    func takeEvent() -> DeviceEvent? { device.takeEvent() }
    func commit() { device.commit(128) }
    func secondaryReading(_ index: Int) -> SecondaryOutputReading? {
      device.secondaryReading(index)
    }

    func wait() -> String {
      device.wait(noLongerThan: .max, &status)
      return "\(status.readiness)"
    }

    func take() -> Bool {
      guard device.capturedFrames(128) != nil else { return false }
      device.release(128)
      return true
    }
  }

  @Test func `lost frames are reported once, at the unit's rate`() throws {
    let unit = try Unit([.ready(lost: 10), .ready(lost: 20), .ready(lost: 5)])
    #expect(unit.wait() == "ready")
    let waits = unit.log.withLock { $0.waits }
    #expect(waits == 2 && unit.status.lostFrames == 60)
    #expect(unit.take() && unit.wait() == "ready" && unit.status.lostFrames == 10)
    #expect(unit.take() && unit.wait() == "ready" && unit.status.lostFrames == 0)
  }

  @Test func `concealed frames are reported at the unit's rate when they are known`() throws {
    let unit = try Unit([
      .ready(bridged: 7), .ready(bridged: nil), .ready(bridged: 30), .ready(bridged: 1),
    ])
    #expect(unit.wait() == "ready")
    let unknown = unit.status.concealedFrames
    #expect(unknown == nil)
    #expect(unit.take() && unit.wait() == "ready" && unit.status.concealedFrames == 76)
    #expect(unit.take() && unit.wait() == "ready" && unit.status.concealedFrames == 0)
  }

  @Test func `the driver's latency is reported at the unit's rate, with that of the resampler`()
    throws
  {
    let unit = try Unit(Array(repeating: .ready(latency: 100), count: 2))
    #expect(unit.wait() == "ready")
    let own = unit.configuration.resamplerDelayFrames
    #expect(own > 0 && unit.status.reportedLatencyFrames == Int(rounding: 200 + own))
    #expect(unit.configuration.latencyFrames == 256 + own)
    #expect(unit.take() && unit.wait() == "ready" && unit.status.reportedLatencyFrames == 0)
  }

  @Test func `events are reported at the unit's rate, whatever the result of the wait`() throws {
    var status = DeviceStatus()
    status.readiness = .waiting
    status.hasEvents = true
    let event = DeviceEvent(.captureXrun, frames: 30, silentFrames: 11)
    let unit = try Unit([status], events: [event])
    #expect(unit.wait() == "waiting" && unit.status.hasEvents)
    let reported = try #require(unit.takeEvent())
    #expect(reported.kind == .captureXrun && reported.frames == 60 && reported.silentFrames == 22)
    #expect(unit.takeEvent() == nil)
    #expect(unit.wait() == "ready" && !unit.status.hasEvents)
  }

  @Test func `an event of a secondary output keeps the number of the output`() throws {
    let unit = try Unit(events: [DeviceEvent(.secondaryOutputLost, outputIndex: 1)])
    let told = try #require(unit.takeEvent())
    #expect(told.kind == .secondaryOutputLost && told.outputIndex == 1 && told.frames == 0)
  }

  @Test func `the secondary outputs of the device are reported`() throws {
    let unit = try Unit()
    #expect(unit.secondaryReading(1)?.xruns == 101 && unit.secondaryReading(2) == nil)
  }

  @Test(arguments: [DeviceReadiness.lost, .suspended, .xrun(.playbackXrun)])
  func `a loss, suspension or xrun of the device is reported by the wait`(trouble: DeviceReadiness)
    throws
  {
    var status = DeviceStatus()
    status.readiness = trouble
    let unit = try Unit([.ready(lost: 10), status])
    #expect(unit.wait() == "\(trouble)")
    // Frames lost before the error are still reported.
    #expect(unit.wait() == "ready" && unit.status.lostFrames == 20)
  }

  @Test(arguments: [false, true])
  func `frames that were queued when a gap began are part of it`(isReconnected: Bool) throws {
    var status = DeviceStatus()
    status.readiness = .xrun(.captureXrun)
    let unit = try Unit([.ready(), status, .ready(lost: 100)])
    #expect(unit.wait().contains("captureXrun"))
    if isReconnected { _ = unit.reconnect() } else { try unit.recover() }
    #expect(unit.wait() == "ready")
    // The filter kept some of the 32 frames; these do not count as waiting frames.
    let waited = unit.status.lostFrames - 200
    #expect(waited > 0 && waited <= 64)
  }

  @Test func `a device that is ready but delivers nothing is not polled endlessly`() throws {
    let unit = try Unit(isEmpty: true)
    #expect(unit.wait() == "waiting")
    #expect(unit.log.withLock { $0.waits } == 1)
  }

  @Test func `the output is always ahead of the input by its initial reserve`() throws {
    let unit = try Unit()
    for _ in 1...20 {
      #expect(unit.wait() == "ready" && unit.take())
      let log = unit.log.withLock { $0 }
      #expect(log.played >= 32 * log.waits)
      unit.commit()
    }
  }

  @Test func `an output alone plays whole periods before the device is waited for`() throws {
    let unit = try Unit(hasCapture: false, sampleRate: 24000)
    #expect(unit.wait() == "ready")
    unit.commit()
    #expect(unit.wait() == "ready")
    let played = unit.log.withLock { $0.played }
    #expect(played == 128)
  }

  @Test func `cycles before the first wait have the time of the start`() throws {
    let unit = try Unit(hasCapture: false, sampleRate: 24000)
    let started = unit.now
    #expect(unit.wait() == "ready" && unit.log.withLock { $0.waits } == 0)
    #expect(unit.status.periodTime == started && unit.status.readyTime == started)
    unit.commit()
    #expect(unit.wait() == "ready" && unit.log.withLock { $0.waits } > 0)
    #expect(unit.status.periodTime > started && unit.status.readyTime > started)
  }
}
