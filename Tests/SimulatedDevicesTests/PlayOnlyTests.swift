import AudioDevices
import SimulatedDevices
import Testing

struct PlayOnlyTests {
  @Test(arguments: [(64, 64), (64, 1), (100, 250), (16, 16)])
  func `an output alone starts when it is filled and wakes the unit at the headroom`(
    period: Int, headroom: Int
  ) throws {
    let frames = period * 50
    let result = try UnitRun(
      playing: counter(frames), frames: frames, period: period, headroom: headroom,
      directions: (false, true)
    ).run()
    #expect(result.failure == nil && result.events.isEmpty && result.frames == frames)
    let primed = (period + headroom + period - 1) / period
    for (index, time) in result.playTimes.enumerated() {
      let played = index < primed ? 0 : index * period - headroom
      #expect(time == UInt64(played * 1_000_000_000 / 48000))
    }
  }

  @Test func `an output alone that is not filled underruns and restarts`() throws {
    let name = "sim:clock=free"
    var request = DuplexRequest(captureDevice: nil, playbackDevice: name)
    request.periodFrames = 64
    var device = DrivenDevice(
      try SimulatedDevice(SimulatedDeviceSpecification(parsing: name), request: request))
    let granted = device.configuration
    #expect(granted.capture == nil && !granted.isLinked)
    try device.start()
    for _ in 0..<2 {
      for _ in 0..<2 {
        guard case .ready = device.wait() else { Issue.record("Room to start with."); return }
        let lost = device.status.lostFrames
        #expect(lost == 0)
        let hasRoom = device.playbackRoom(64) != nil
        #expect(hasRoom)
        device.commit(64)
      }
      let isFull = device.playbackRoom(64) == nil
      #expect(isFull)
      guard case .ready = device.wait() else { Issue.record("A period was played."); return }
      guard case .xrun(.playbackXrun) = device.wait() else { Issue.record("Dry."); return }
      try device.recover()
    }
  }

  @Test func `an output alone can be unplugged`() throws {
    let result = try UnitRun(
      settings: "unplug-at=0.1", frames: 48000, directions: (false, true)
    ).run()
    #expect(result.failure?.kind == .lost)
    #expect((4800...5000).contains(result.frames))
  }

  @Test func `draining waits until all queued frames are played`() throws {
    let name = "sim:clock=free"
    var request = DuplexRequest(captureDevice: nil, playbackDevice: name)
    request.periodFrames = 480
    var device = DrivenDevice(
      try SimulatedDevice(SimulatedDeviceSpecification(parsing: name), request: request))
    try device.start()
    _ = device.wait()
    _ = device.playbackRoom(480)
    device.commit(480)
    device.stop(draining: true)
    let end = device.now
    #expect(end == 10_000_000)
  }
}
