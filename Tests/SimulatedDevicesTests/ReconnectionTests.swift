import AudioBasics
import AudioDevices
import RealtimeAudio
import SimulatedDevices
import Testing

/// Tests of a device that is lost and returns in a unit that waits for it.
struct ReconnectionTests {
  @Test(arguments: [(0.2, 0.3), (0.2, 1.25), (0.2001, 0.2002), (0.1, 7.3)])
  func `the gap is exactly as long as the device was absent`(
    away: Double, back: Double
  ) throws {
    let frames = 48000 * 8
    let signal = counter(frames)
    let result = try UnitRun(
      settings: "unplug-at=\(away),replug-at=\(back)", playing: signal, frames: frames,
      reconnects: true
    ).run()
    // The frames captured of the current period are lost with the device. The device is found again
    // at the exact frame of its return, but not before the end of that period.
    let gap = Int(clamping: away * 48000) / 64 * 64
    let end = max(Int(rounding: back * 48000), gap + 64)
    #expect(result.failure == nil && result.frames == frames)
    #expect(
      result.events == [
        TimelineEvent(kind: .deviceLost, frame: gap, frames: 0),
        TimelineEvent(kind: .deviceReturned, frame: gap, frames: end - gap),
      ])
    #expect(result.lostFrames == end - gap)
    let expected = (0..<frames).map { frame -> Float in
      if (gap..<end).contains(frame) { return PlayAndCapture.missing }
      // The queued samples continue to play until the output starts again with silence.
      let isPlaying = frame < min(end, gap + 128) || frame >= end + 128
      return isPlaying && frame >= 128 ? signal[frame - 128] : 0
    }
    #expect(difference(result.heard, expected) == nil)
  }

  @Test func `a device may be unplugged several times`() throws {
    let result = try UnitRun(
      settings: "replug-at=0.75,unplug-at=0.5,unplug-at=0.1,replug-at=0.2,unplug-at=0.9",
      frames: 96000, reconnects: true
    ).run()
    #expect(result.failure == nil && result.frames == 96000)
    #expect(
      result.events == [
        TimelineEvent(kind: .deviceLost, frame: 4800, frames: 0),
        TimelineEvent(kind: .deviceReturned, frame: 4800, frames: 4800),
        TimelineEvent(kind: .deviceLost, frame: 24000, frames: 0),
        TimelineEvent(kind: .deviceReturned, frame: 24000, frames: 12000),
        TimelineEvent(kind: .deviceLost, frame: 43168, frames: 0),
        TimelineEvent(kind: .deviceAbsent, frame: 43168, frames: 96000 - 43168),
      ])
  }

  @Test func `the latency is the same after a reconnection, also with a fractional delay`() throws {
    let frames = 48000
    let signal = (0..<frames).map { Float(sine(0.02, at: Double($0))) }
    let result = try UnitRun(
      settings: "unplug-at=0.25,replug-at=0.5,delay=20.5", playing: signal, frames: frames,
      reconnects: true
    ).run()
    let exact = (0..<frames).map { sine(0.02, at: Double($0) - 148.5) }
    #expect(distance(result.heard, exact, from: 24000 + 128 + 100) < 1e-4)
  }

  @Test func `a run that ends during an absence has a gap up to its end`() throws {
    let result = try UnitRun(
      settings: "unplug-at=0.2,replug-at=3", frames: 48000, reconnects: true
    ).run()
    #expect(result.failure == nil && result.frames == 48000 && result.lostFrames == 48000 - 9600)
    #expect(
      result.events == [
        TimelineEvent(kind: .deviceLost, frame: 9600, frames: 0),
        TimelineEvent(kind: .deviceAbsent, frame: 9600, frames: 48000 - 9600),
      ])
    #expect(result.gaps == [48000])
  }

  @Test func `a device that does not return is waited for until the end`() throws {
    let result = try UnitRun(settings: "unplug-at=0.2", frames: 96000, reconnects: true).run()
    #expect(result.failure == nil && result.frames == 96000 && result.lostFrames == 96000 - 9600)
  }

  @Test func `a stop during an absence takes effect at once and adds no frames`() throws {
    let name = "sim:clock=free,unplug-at=0.1"
    var request = DuplexRequest(captureDevice: name, playbackDevice: name)
    request.periodFrames = 64
    let progress = UnitProgress()
    var unit = DuplexUnit(
      device: try SimulatedDevice(
        SimulatedDeviceSpecification(parsing: name), request: request),
      callbacks: DuplexClosures(), progress: progress, reconnects: true)
    try unit.start()
    var outcome = unit.cycle()
    while case .ran = outcome { outcome = unit.cycle() }
    for _ in 0..<50 {
      guard case .away = outcome else {
        Issue.record("It should be away.")
        return
      }
      outcome = unit.cycle()
    }
    progress.requestStop()
    outcome = unit.cycle()
    guard case .finished = outcome else {
      Issue.record("It should have finished.")
      return
    }
    unit.stop()
    #expect(progress.frames == 4800 && progress.lostFrames == 0 && progress.captureXruns == 0)
  }

  @Test func `an absence is not counted as an xrun, and an xrun is reported separately`() throws {
    let result = try UnitRun(
      settings: "unplug-at=0.2,replug-at=0.4,xrun-at=0.1,xrun-at=0.3,xrun-at=0.5", frames: 48000,
      reconnects: true
    ).run()
    // The xrun at 0.3 has no effect, because the device is absent.
    #expect(
      result.events.map(\.kind) == [.captureXrun, .deviceLost, .deviceReturned, .captureXrun])
    #expect(result.lostFrames == result.events.reduce(0) { $0 + $1.frames })
  }

  @Test func `a unit without reconnection ends with its device`() throws {
    let result = try UnitRun(settings: "unplug-at=0.2,replug-at=0.4", frames: 48000).run()
    #expect(result.failure?.kind == .lost && result.frames == 9600 && result.events.isEmpty)
  }

  @Test(arguments: [44100, 96000])
  func `with a resampler the gap is counted in the unit's frames`(rate: Int) throws {
    let name = "sim:clock=free,rate=48000,unplug-at=0.5,replug-at=1.5"
    var request = DuplexRequest(captureDevice: name, playbackDevice: name)
    request.sampleRate = rate
    request.periodFrames = 64
    let specification = try SimulatedDeviceSpecification(parsing: name)
    let device = try ResamplingDevice(
      SimulatedDevice(specification, request: request.atRate(48000)), request: request)
    let progress = UnitProgress()
    let writer = EventWriter<TimelineEvent>()
    var reader = writer.makeReader()
    var unit = DuplexUnit(
      device: device, callbacks: DuplexClosures(), progress: progress, events: writer,
      frameLimit: 3 * rate, reconnects: true)
    try unit.start()
    let failure = unit.run()
    unit.stop()
    var events: [TimelineEvent] = []
    while let event = reader.read() { events.append(event) }
    #expect(failure == nil && progress.frames == 3 * rate)
    #expect(events.map(\.kind) == [.deviceLost, .deviceReturned])
    // The gap is the second between the last frame before and the first frame after it, and the
    // frames in the resampler's queue: less than a period on each side.
    let gap = events.last?.frames ?? 0
    #expect((rate...(rate + 256)).contains(gap))
    // No part of the timeline is missing: the first period after the gap is captured at its own
    // time.
    let end = (events.last?.frame ?? 0) + gap
    #expect(abs(end - rate * 3 / 2) <= 2)
  }
}
