import AudioBasics
import AudioDevices
import RealtimeAudio
import SimulatedDevices
import Testing

struct MishapTests {
  @Test(arguments: [1, 32, 64, 480, 5000, 100_000], [0, 10, 300])
  func `an overrun is a gap, and later frames keep their positions on the timeline`(
    lost: Int, delay: Int
  ) throws {
    let frames = 8000 + lost
    let signal = counter(frames)
    let result = try UnitRun(
      settings: "xrun-at=0.1,xrun-frames=\(lost),delay=\(delay)", playing: signal, frames: frames
    ).run()
    let end = 4800 + lost
    #expect(result.failure == nil && result.frames == frames && result.lostFrames == lost)
    #expect(
      result.events == [TimelineEvent(kind: .captureXrun, frame: 4800, frames: lost)])
    let latency = 128 + delay
    let queuedBefore = 4800 + 128
    let expected = (0..<frames).map { frame -> Float in
      if (4800..<end).contains(frame) { return PlayAndCapture.missing }
      let output = frame - delay
      // The queued samples continue to play until the output starts again with silence.
      let isPlaying = output < min(end, queuedBefore) || output >= end + 128
      return isPlaying && frame >= latency ? signal[frame - latency] : 0
    }
    #expect(difference(result.heard, expected) == nil)
  }

  @Test func `each overrun occurs in the cycle that contains its time`() throws {
    let result = try UnitRun(
      settings: "xrun-at=0.5,xrun-at=0.1,xrun-at=0.3001", playing: counter(48000), frames: 48000
    ).run()
    #expect(
      result.events.map(\.frame) == [4800, 4800 + 480 + 9088, 4800 + 480 + 9088 + 480 + 9152])
    #expect(result.events.map(\.frames) == [480, 480, 480])
    #expect(result.lostFrames == 1440)
    #expect(result.frames == 48000)
  }

  @Test func `a fractional delay is exact again after a gap`() throws {
    let settings = "xrun-at=0.05,delay=20.5"
    let frames = 9600
    let signal = (0..<frames).map { Float(sine(0.02, at: Double($0))) }
    let result = try UnitRun(settings: settings, playing: signal, frames: frames).run()
    let exact = (0..<frames).map { sine(0.02, at: Double($0) - 148.5) }
    #expect(distance(result.heard, exact, from: 2400 + 480 + 128 + 100) < 1e-4)
  }

  @Test func `an unplugged device is lost`() throws {
    let result = try UnitRun(settings: "unplug-at=0.1", frames: 48000).run()
    #expect(result.failure?.kind == .lost)
    #expect(result.frames == 4800)
  }

  @Test func `a device that is plugged in again returns with the correct number of lost frames`()
    throws
  {
    var device = try device("unplug-at=0.1,replug-at=0.2")
    try device.start()
    while case .ready = device.wait() { cycle(&device) }
    device.close()
    // The last period was not finished; 100 ms later the device is found.
    let found = device.pollForReconnection()
    #expect(found == .returned(cards: []))
    guard case .ready = device.wait() else {
      Issue.record("It should be there.")
      return
    }
    // 4800 frames were captured; the first period after the return begins after frame 9600.
    let lost = device.status.lostFrames
    let time = device.status.periodTime
    #expect(lost == 4800)
    #expect(time == (9600 + 64) * 1_000_000_000 / 48000)
  }

  @Test(arguments: [(16, 64), (64, 64), (200, 64)])
  func `an output that is not filled underruns and can be recovered`(headroom: Int, period: Int)
    throws
  {
    var device = try device("", period: period, headroom: headroom)
    try device.start()
    var cycles = 0
    var found: TimelineEvent.Kind?
    while found == nil {
      switch device.wait() {
      case .ready:
        cycles += 1
        device.release(period)
      case .xrun(let kind): found = kind
      default: return
      }
    }
    #expect(found == .playbackXrun)
    // The silence of one period and the headroom lasts this long; the output is dry when no frame
    // is left.
    #expect(cycles == (period + headroom - 1) / period)
    try device.recover()
    guard case .ready = device.wait() else {
      Issue.record("It should run again.")
      return
    }
    let lost = device.status.lostFrames
    #expect(lost == period)
    // The lost frames are reported only once.
    cycle(&device, frames: period)
    guard case .ready = device.wait() else {
      Issue.record("It should run on.")
      return
    }
    let more = device.status.lostFrames
    #expect(more == 0)
  }

  private func device(
    _ settings: String, period: Int = 64, headroom: Int? = nil
  ) throws -> DrivenDevice {
    let name = "sim:clock=free,\(settings)"
    var request = DuplexRequest(captureDevice: name, playbackDevice: name)
    request.periodFrames = period
    request.headroomFrames = headroom
    return DrivenDevice(
      try SimulatedDevice(SimulatedDeviceSpecification(parsing: name), request: request))
  }

  private func cycle(_ device: inout DrivenDevice, frames: Int = 64) {
    _ = device.capturedFrames(frames)
    if device.playbackRoom(frames) != nil { device.commit(frames) }
    device.release(frames)
  }
}
