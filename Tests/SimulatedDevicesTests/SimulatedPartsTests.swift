import AudioDevices
import RealtimeAudio
import Testing

@testable import SimulatedDevices

/// Tests of the parts of simulated devices, and of their own descriptions.
struct SimulatedPartsTests {
  private func request(_ name: String, period: Int = 64, headroom: Int? = nil) -> DuplexRequest {
    var request = DuplexRequest(captureDevice: name, playbackDevice: name)
    request.periodFrames = period
    request.headroomFrames = headroom
    return request
  }

  private func device(
    _ name: String, period: Int = 64, headroom: Int? = nil
  ) throws -> DrivenDevice {
    DrivenDevice(
      try SimulatedDevice(
        SimulatedDeviceSpecification(parsing: name),
        request: request(name, period: period, headroom: headroom)))
  }

  @Test
  func `an output that is started again before its clock was read starts with all its silence`()
    throws
  {
    let name = "sim:clock=free,batch=480"
    var output = try SimulatedOutput(
      SimulatedDeviceSpecification(parsing: name), request: request(name), remembering: 1)
    output.start(silence: 100, at: 0)
    // 475 frames later, none of which is visible in the clock yet.
    let now: UInt64 = 475 * 1_000_000_000 / 48000
    output.start(silence: 100, at: now)
    let state = output.readState(at: now)
    guard case .running(let reading, _) = state else {
      Issue.record("It ran dry when it started: \(state)")
      return
    }
    #expect(reading.frames == 0)
  }

  @Test(arguments: [(1, 1, 1), (2, 1, 2), (2, 2, 2), (8, 2, 8)])
  func `a device is opened with all of its channels`(
    channelCount: Int, wanted: Int, opened: Int
  ) throws {
    var request = request("sim")
    request.channelCount = wanted
    let channels = try SimulatedChannels(
      SimulatedDeviceSpecification(parsing: "sim:channels=\(channelCount)"), for: request)
    #expect(channels.deviceChannelCount == opened)
  }

  @Test(arguments: [false, true])
  func `a microphone with a different number of channels than the device is refused`(
    hasTwoClocks: Bool
  ) throws {
    let name = "sim:clock=free,channels=3"
    let specification = try SimulatedDeviceSpecification(parsing: name)
    let reader = SampleWriter(frameCount: 64, channelCount: 2).makeReader()
    do throws(DeviceFailure) {
      if hasTwoClocks {
        _ = try DevicePair(simulating: specification, request: request(name), microphone: reader)
      } else {
        _ = try SimulatedDevice(specification, request: request(name), microphone: reader)
      }
      Issue.record("It should be refused.")
    } catch {
      #expect(error.kind == .invalidRequest && error.hint.contains("channels=2"))
    }
  }

  @Test func `an input overruns when its buffer is full`() throws {
    let name = "sim:clock=free,batch=16"
    var pair = try DevicePair(
      simulating: SimulatedDeviceSpecification(parsing: name), request: request(name))
    try pair.playback.start(silence: 64, at: 0)
    try pair.capture.start(silence: 0, at: 0)
    func state(at frame: Int) -> String {
      "\(pair.capture.readState(at: UInt64(frame) * 1_000_000_000 / 48000))"
    }
    let buffer = pair.capture.configuration.bufferFrames
    #expect(state(at: buffer + 8).contains("available: \(buffer)"))
    #expect(state(at: buffer + 24) == "xrun")
  }

  @Test func `an output has no room when its buffer is full`() throws {
    let name = "sim:clock=free,batch=16"
    var output = try SimulatedOutput(
      SimulatedDeviceSpecification(parsing: name), request: request(name), remembering: 1)
    let buffer = output.configuration.bufferFrames
    output.start(silence: buffer - 64, at: 0)
    #expect(output.frames(64, at: 0) != nil)
    #expect(output.commit(64) && output.frames(64, at: 0) == nil)
  }

  @Test(arguments: [(64, 64), (32, 100)])
  func `the reported latency is the sum of period and headroom`(period: Int, headroom: Int) throws {
    var device = try device("sim:clock=free", period: period, headroom: headroom)
    try device.start()
    guard case .ready = device.wait() else {
      Issue.record("It should be ready.")
      return
    }
    let latency = device.status.reportedLatencyFrames
    #expect(latency == period + headroom)
  }

  @Test func `an unplugged device plays nothing when it is stopped`() throws {
    var device = try device("sim:clock=free,unplug-at=0.1")
    try device.start()
    while case .ready = device.wait() {
      device.release(64)
      if device.playbackRoom(64) != nil { device.commit(64) }
    }
    let before = device.now
    device.stop(draining: true)
    let after = device.now
    #expect(after == before)
  }

  @Test(arguments: [-500.0, 100, 3000])
  func `the position played at a captured frame is consistent with its inverse`(drift: Double)
    throws
  {
    let specification = try SimulatedDeviceSpecification(parsing: "sim:drift=\(drift)")
    let wire = LoopbackPath(specification, headroomFrames: 64, periodFrames: 64, channelCount: 1)
    for position in stride(from: 977, to: 100_000, by: 977) {
      let frame = wire.captured(at: position)
      let (played, playedBefore) = (wire.played(at: frame), wire.played(at: frame - 2))
      #expect(played >= position && playedBefore < position)
    }
  }
}
