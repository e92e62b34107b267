import AudioBasics
import AudioClocks
import RealtimeAudio
import Testing

@testable import AudioDevices

/// What bridges are made of, and a device that plays on a further one.
@Suite struct BridgePartTests {
  @Test func `a device that stops is found after a tenth of a second and two periods`() {
    var detector = StallDetector(periodFrames: 480, sampleRate: 48000)
    detector.begin(at: 1_000_000_000)
    #expect(detector.note(10, at: 1_500_000_000) == .moving)
    #expect(detector.note(10, at: 1_620_000_000) == .moving)
    #expect(detector.note(10, at: 1_620_000_001) == .standing)
    #expect(detector.note(11, at: 1_620_000_002) == .moving)
  }

  @Test func `a device that never begins is given up after five seconds`() {
    var detector = StallDetector(periodFrames: 480, sampleRate: 48000)
    detector.begin(at: 1_000_000_000)
    #expect(detector.note(0, at: 6_000_000_000) == .moving)
    #expect(detector.note(0, at: 6_000_000_001) == .dead)
    detector.begin(at: 7_000_000_000)
    #expect(detector.note(0, at: 12_000_000_000) == .moving)
  }

  @Test func `each time output frames are counted anew is told`() {
    var bridge = ClockDomainBridge(
      channelCount: 1, inputRate: 48000, outputRate: 48000, delaySeconds: 0.01,
      quality: ConversionQuality(resamplerQuality: 5))
    let first = bridge.epoch
    bridge.restartOutput(queued: 100)
    let second = bridge.epoch
    bridge.changeOutput(to: FilteredClock(framesPerSecond: 48000), at: 200)
    let third = bridge.epoch
    #expect(second == first + 1 && third == first + 2 && bridge.writtenFrames == 200)
  }

  /// A unit's side of a device that plays on a further output.
  private final class Unit {
    private var device: FanOutDevice
    private(set) var status = DeviceStatus()
    let stream = MutexBox(ScriptedStream.Log())

    init(_ statuses: [DeviceStatus] = [], events: [DeviceEvent] = [], states: [StreamState] = [])
      throws
    {
      device = FanOutDevice(
        DuplexDevice(
          ReportingDevice(
            statuses, events: events, isEmpty: false, hasCapture: false,
            log: MutexBox(ReportingDevice.Log()))), resamplerQuality: 5)
      try device.add(DeviceStream(ScriptedStream(states, log: stream)))
      try device.start()
    }

    func takeEvent() -> DeviceEvent? { device.takeEvent() }
    func xruns() -> Int? { device.secondaryReading(0)?.xruns }

    func cycle() {
      device.wait(noLongerThan: .max, &status)
      if device.playbackRoom(32) != nil { device.commit(32) }
    }
  }

  @Test func `a further output that is lost and comes back is told, by its number`() throws {
    let unit = try Unit(states: [.lost])
    unit.cycle()
    #expect(!unit.status.hasEvents)
    unit.cycle()
    #expect(unit.status.hasEvents)
    let lost = try #require(unit.takeEvent() ?? nil)
    #expect(
      (lost.kind == .secondaryOutputLost || lost.kind == .secondaryOutputReturned)
        && lost.frames == 0)
    let log = unit.stream.withLock { $0 }
    #expect(log.started.count == 1 && log.detached.count == 1)
    // More than it starts with, so that it is not dry before its clock is known.
    #expect(log.detached[0] > log.started[0])
    while unit.takeEvent() != nil {}
    unit.cycle()
    #expect(!unit.status.hasEvents)
  }

  @Test func `a further output that ran dry is counted, and is no event`() throws {
    let unit = try Unit(states: [.xrun])
    unit.cycle()
    unit.cycle()
    #expect(unit.xruns() == 1 && !unit.status.hasEvents)
  }

  @Test func `the device's own events are told first`() throws {
    var status = DeviceStatus.ready()
    status.hasEvents = true
    let unit = try Unit(
      [status], events: [DeviceEvent(.captureLost, frames: 7)], states: [.lost])
    unit.cycle()
    #expect(unit.status.hasEvents)
    #expect(unit.takeEvent()?.kind == .captureLost)
    #expect(unit.takeEvent()?.kind == .secondaryOutputLost)
    #expect(unit.takeEvent() == nil)
  }
}
