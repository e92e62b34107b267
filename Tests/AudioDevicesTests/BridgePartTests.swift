import AudioBasics
import AudioClocks
import RealtimeAudio
import Testing

@testable import AudioDevices

/// Tests of the parts of clock domain bridges, and of a device that also plays on a secondary
/// output.
@Suite struct BridgePartTests {
  @Test func `a stalled device is detected after a tenth of a second and two periods`() {
    var detector = StallDetector(periodFrames: 480, sampleRate: 48000)
    detector.begin(at: 1_000_000_000)
    #expect(detector.note(10, at: 1_500_000_000) == .advancing)
    #expect(detector.note(10, at: 1_620_000_000) == .advancing)
    #expect(detector.note(10, at: 1_620_000_001) == .stalled)
    #expect(detector.note(11, at: 1_620_000_002) == .advancing)
  }

  @Test func `a device that never advances is given up after five seconds`() {
    var detector = StallDetector(periodFrames: 480, sampleRate: 48000)
    detector.begin(at: 1_000_000_000)
    #expect(detector.note(0, at: 6_000_000_000) == .advancing)
    #expect(detector.note(0, at: 6_000_000_001) == .neverStarted)
    detector.begin(at: 7_000_000_000)
    #expect(detector.note(0, at: 12_000_000_000) == .advancing)
  }

  @Test func `each restart of the count of output frames changes the epoch`() {
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

  @Test func `an output that is muted until its clock is known does not change the bridge's clock`()
    throws
  {
    var bridge = ClockDomainBridge(
      channelCount: 1, inputRate: 48000, outputRate: 48000, delaySeconds: 0.01,
      quality: ConversionQuality(resamplerQuality: 5))
    var output = AsynchronousOutput(
      DeviceStream(TimedStream(isInput: false, MutexBox(TimedStream.Script()))), silence: 256,
      minimumQueuedFrames: 64)
    var now: UInt64 = 1_000_000_000
    try output.start(&bridge, at: now)
    for millisecond in 1...300 {
      now += 1_000_000
      bridge.noteInput(ClockReading(frames: 48 * millisecond, nanoseconds: now))
      #expect(output.poll(&bridge, at: now) == nil)
      _ = bridge.steer(frames: 48, at: now)
    }
    output.needsRestart = true
    try output.start(&bridge, at: now)
    // Without an input the output stays muted.
    bridge.restartInput()
    for _ in 1...1000 {
      now += 1_000_000
      #expect(output.poll(&bridge, at: now) == nil && !output.isPlaying)
    }
    #expect(abs(bridge.output.frames(at: now) - 1300 * 48) < 48)
  }

  @Test func `an output that underran before its clock was known starts with more silence`() throws
  {
    var bridge = ClockDomainBridge(
      channelCount: 1, inputRate: 24000, outputRate: 24000, delaySeconds: 0.01,
      quality: ConversionQuality(resamplerQuality: 5))
    let log = MutexBox(ScriptedStream.Log())
    var output = AsynchronousOutput(
      DeviceStream(ScriptedStream([.xrun], log: log)), silence: 256, minimumQueuedFrames: 64)
    try output.start(&bridge, at: 1_000_000_000)
    #expect(output.poll(&bridge, at: 1_001_000_000) != nil)
    try output.start(&bridge, at: 1_001_000_000)
    // 50 ms more silence than at the first start.
    #expect(log.withLock { $0.started } == [256, 256 + 1200])
  }

  @Test(arguments: [16, 4096])
  func `the frames in a converter's filter are drained through a queue of any length`(
    capacity: Int
  ) throws {
    var stage = try RateStage(
      channelCount: 1, from: 44100, to: 48000, quality: 5, capacity: capacity, isFinite: true)
    let source = SampleBuffer(frameCount: 8, channelCount: 1)
    var target = SampleBuffer(frameCount: 16, channelCount: 1)
    var count = 0
    for _ in 0..<100 {
      stage.push(source, frames: 8)
      count += stage.pull(into: &target, frames: 16)
    }
    while stage.drain() || stage.queued > 0 { count += stage.pull(into: &target, frames: 16) }
    // 800 input frames at the output's rate.
    #expect(count == 871)
  }

  /// A device that plays on a secondary output, as used by a unit.
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
    var output: SecondaryOutput? { device.configuration.secondaryOutputs.first }
    func relocks() -> Int? { device.secondaryReading(0)?.drift.relocks }
    func recover() throws { try device.recover() }

    /// Waits for a period and plays a level of 0.5.
    func cycle() {
      repeat { device.wait(noLongerThan: .max, &status) } while isWaiting
      guard let room = device.playbackRoom(32) else { return }
      _ = room.encode(level, from: 0, frames: 32, at: 0)
      device.commit(32)
    }

    private var isWaiting: Bool { if case .waiting = status.readiness { true } else { false } }

    private let level = {
      var level = SampleBuffer(frameCount: 32, channelCount: 1)
      for frame in 0..<32 { level[frame] = 0.5 }
      return level
    }()
  }

  @Test func `a secondary output that is lost and returns is reported`() throws {
    let unit = try Unit(states: [.lost])
    unit.cycle()
    #expect(!unit.status.hasEvents)
    unit.cycle()
    #expect(unit.status.hasEvents)
    let lost = try #require(unit.takeEvent() ?? nil)
    #expect(
      (lost.kind == .secondaryOutputLost || lost.kind == .secondaryOutputReturned)
        && lost.outputIndex == 0 && lost.frames == 0)
    let log = unit.stream.withLock { $0 }
    #expect(log.started.count == 1 && log.detached.count == 1)
    // The silence is longer than at the first start, so that the output does not run dry before its
    // clock is known.
    #expect(log.detached[0] > log.started[0])
    while unit.takeEvent() != nil {}
    unit.cycle()
    #expect(!unit.status.hasEvents)
  }

  @Test func `an underrun of a secondary output is counted and is not an event`() throws {
    let unit = try Unit(states: [.xrun])
    unit.cycle()
    unit.cycle()
    #expect(unit.xruns() == 1 && !unit.status.hasEvents)
  }

  @Test func `the device's own events are reported first`() throws {
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

  @Test
  func
    `a secondary output is later by a period, what a cycle may be late, and the converter's reach`()
    throws
  {
    let reach = ConversionQuality(resamplerQuality: 5).reach(of: 24000, to: 24000)
    // A cycle may be late by half a period (16 frames) or by 1 ms (24 frames), whichever is longer.
    #expect(try Unit().output?.latencyFrames == Double(32 + 24 + reach))
  }

  /// Returns how often the input of the secondary output was restarted. The device's clock reports
  /// frame 32 i in cycle i, and `shift` frames more from cycle 20 on; the due frame is `gap` frames
  /// later than that.
  private func relocks(shift: Int, gap: Int) throws -> Int? {
    var clock = FilteredClock(framesPerSecond: 24000)
    var now: UInt64 = 1_000_000_000
    var statuses: [DeviceStatus] = []
    for cycle in 0..<30 {
      let isLater = cycle >= 20
      if cycle == 20, shift != 0 { clock = FilteredClock(framesPerSecond: 24000) }
      now += 32_000_000 / 24
      let frame = 32 * cycle + (isLater ? shift : 0)
      clock.take(ClockReading(frames: frame, nanoseconds: now))
      var status = DeviceStatus.ready()
      status.unitClock = UnitClock(
        clock.estimate, due: frame + (isLater ? gap : 0), epoch: isLater && shift != 0 ? 1 : 0)
      statuses.append(status)
    }
    let unit = try Unit(statuses)
    for _ in statuses { unit.cycle() }
    return unit.relocks()
  }

  @Test(arguments: [0, 1000])
  func `frames that the device skipped are a gap even if its count restarts`(
    shift: Int
  ) throws {
    #expect(try relocks(shift: shift, gap: 0) == 0)
    #expect(try relocks(shift: shift, gap: 20) == 0)
    #expect(try relocks(shift: shift, gap: 100) == 1)
  }

  /// The device reports no clock, so the clock is estimated from the times of the cycles.
  @Test func `a secondary output is silent for as long as the device stalled`() throws {
    var statuses: [DeviceStatus] = []
    for wait in 1...110 {
      var status = DeviceStatus.ready()
      status.periodTime = 1_000_000_000 + UInt64(wait) * 32_000_000 / 24
      if 51...80 ~= wait { status.readiness = .waiting }
      statuses.append(status)
    }
    let unit = try Unit(statuses)
    for _ in 1...50 { unit.cycle() }
    try unit.recover()
    for _ in 1...30 { unit.cycle() }
    let samples = unit.stream.withLock { $0.samples }
    let first = try #require(samples.firstIndex { $0 > 0.4 })
    // The silence lasts for 30 periods, including the start of the fade-in.
    let silence = samples[first...].count { abs($0) < 0.01 }
    #expect(abs(silence - 30 * 32) < 20)
    #expect(unit.relocks() == 1)
    #expect(abs((samples.last ?? 0) - 0.5) < 0.01)
  }
}
