import AudioBasics
import FakePCM
import Glibc
import RealtimeAudio
import Testing

@testable import AudioDevices

/// Tests of two ALSA PCMs as one device, on fake PCMs whose return values the test chooses.
@Suite struct ALSADuplexTests {
  @Test(arguments: [true, false])
  func `both directions start together, with a period and the headroom ahead`(isLinked: Bool) throws
  {
    let rig = try ALSADuplexRig(isLinked: isLinked)
    let (capture, playback) = (try #require(rig.capture), try #require(rig.playback))
    #expect(rig.configuration.isLinked == isLinked)
    #expect(rig.configuration.latencyFrames == 128)
    #expect(playback.pointee.application == 128)
    #expect(playback.samples[..<128].allSatisfy { $0 == 0 } && playback.samples[128] == 7)
    #expect(capture.pointee.started == 1 && playback.pointee.started == (isLinked ? 0 : 1))
  }

  /// A name in ALSA's configuration can combine the input of one card and the output of another.
  @Test(arguments: [(0, false, false), (1, false, true), (0, true, true)])
  func `the directions of two cards, or of a card and a server, have two clocks`(
    card: Int32, isServer: Bool, hasTwoClocks: Bool
  ) throws {
    let rig = try ALSADuplexRig(isServer: isServer, card: card)
    #expect(rig.hasTwoClocks == hasTwoClocks)
    #expect(rig.configuration.isLinked == !hasTwoClocks)
  }

  @Test(arguments: [
    ("Null PCM", true), ("Plug PCM: Null PCM", true), ("File PCM (file=x)\nNull PCM", true),
    ("Multi PCM\nSlave #0: Null PCM\nSlave #1: Plug PCM: Null PCM", true),
    ("Multi PCM\nSlave #0: File PCM (file=x)\nNull PCM", true),
    ("Plug PCM: Multi PCM\nSlave #0: Null PCM\nSlave #1: Hardware PCM card 1 'x'", false),
    ("ALSA <-> PulseAudio PCM I/O Plugin", false), ("", false),
  ])
  func `a PCM whose parts end in null keeps no time`(parts: String, isNull: Bool) {
    #expect(PCM.isNull(parts.split(separator: "\n")) == isNull)
  }

  @Test func `a unit is woken when exactly one period is available`() throws {
    let rig = try ALSADuplexRig(step: 1)
    let capture = try #require(rig.capture)
    capture.pointee.hardware = 63
    #expect(rig.wait() == "ready")
    #expect(capture.pointee.hardware == 64)
    rig.cycle()
    #expect(capture.pointee.application == 64)
  }

  @Test func `a wait ends although the device does not advance`() throws {
    let fake = FakePCM.make()
    fake.pointee.is_never_due = true
    var device = try ALSADuplex(opening: .fake(fake, nil))
    try device.start()
    var status = DeviceStatus()
    device.wait(noLongerThan: 0, &status)
    #expect("\(status.readiness)" == "waiting")
  }

  /// Returns a hardware PCM, which is waited for with the kernel's own queue.
  private func hardware() throws -> (FakePCM, ALSADuplexRig) {
    let rig = try ALSADuplexRig(playback: false, isHardware: true)
    return (try #require(rig.capture), rig)
  }

  @Test func `hardware wakes the unit once per period, and its events are not translated`() throws {
    let (capture, rig) = try hardware()
    capture.pointee.hardware = 64
    // Frames that are already available are found before the first sleep.
    #expect(rig.wait() == "ready")
    rig.cycle()
    capture.pointee.hardware = 128
    #expect(rig.wait() == "ready")
    rig.cycle()
    capture.pointee.hardware = 192
    // The period is available, but the device has not signalled it.
    #expect(rig.wait() == "waiting")
    #expect(rig.wait() == "ready")
    rig.cycle()
    capture.pointee.hardware = 256
    fake_pcm_wake(capture)
    #expect(rig.wait() == "ready")
    #expect(capture.pointee.translated == 0)
  }

  @Test func `a wait ends although the hardware has no period`() throws {
    let (capture, rig) = try hardware()
    for _ in 1...3 { #expect(rig.wait() == "waiting") }
    #expect(capture.pointee.application == 0)
  }

  @Test(arguments: [(0, "waiting"), (-EPIPE, "captureXrun"), (-ENODEV, "lost")])
  func `hardware that hangs up is queried for its state`(code: Int32, expected: String) throws {
    let (capture, rig) = try hardware()
    capture.pointee.code = Int(code)
    capture.pointee.is_code_hidden = true
    fake_pcm_hang_up(capture)
    // No whole period is available, so the kernel is queried.
    capture.pointee.hardware = 63
    #expect(rig.wait().contains(expected))
  }

  @Test(arguments: [-10, 0, 10], [true, false])
  func `an inexact start is corrected by silence or by dropping frames`(
    error: Int, isLinked: Bool
  ) throws {
    let rig = try ALSADuplexRig(isLinked: isLinked)
    let playback = try #require(rig.playback)
    // The output queue is longer than intended by `error` frames.
    playback.pointee.hardware = -error
    for cycle in 1...10 {
      #expect(rig.wait() == "ready")
      rig.cycle()
      let corrected = cycle >= 8 ? error : 0
      #expect(playback.pointee.application == 128 + 64 * cycle - corrected)
    }
  }

  @Test func `the delays of both drivers are reported as one sum`() throws {
    let rig = try ALSADuplexRig()
    rig.capture?.pointee.delay = 70
    rig.playback?.pointee.delay = 59
    #expect(rig.wait() == "ready")
    rig.cycle()
    #expect(rig.wait() == "ready")
    #expect(rig.status.reportedLatencyFrames == 129)
  }

  @Test func `the kernel is queried if the mapped page of an output is stale`() throws {
    let rig = try ALSADuplexRig(isLinked: false)
    let playback = try #require(rig.playback)
    #expect(rig.wait() == "ready")
    playback.pointee.hardware = 0
    playback.pointee.move = 10
    playback.pointee.stale = 128
    #expect(rig.playbackRoom() != nil)
    #expect(playback.pointee.hardware == 10)
  }

  /// If the headroom is not a whole number of periods, some periods cross the end of the ring
  /// buffer.
  @Test(arguments: [true, false], [10, 32, 100])
  func `an output page that is one period old is not mistaken for an xrun`(
    isLinked: Bool, headroom: Int
  ) throws {
    // The smallest buffer of whole periods that holds one period and the headroom.
    let rig = try ALSADuplexRig(
      isLinked: isLinked, buffer: (64 + headroom + 63) / 64 * 64, headroom: headroom)
    let playback = try #require(rig.playback)
    for cycle in 1...40 {
      #expect(rig.wait() == "ready")
      let now = playback.pointee.hardware
      // The output's interrupt comes after the input's: until the kernel is queried, the mapped
      // page is that of the previous cycle.
      if cycle > 4 { playback.pointee.hardware = now - 64 }
      playback.pointee.move = now - playback.pointee.hardware
      rig.cycle()
      playback.pointee.move = 0
      playback.pointee.hardware = now
    }
  }

  /// If both directions stop together because the output ran dry, possibly only the output's
  /// position is that of the stop. The input then reports `counted` of the `captured` frames.
  @Test(arguments: [(true, 101, 101), (false, 101, 101), (true, 64, 128), (true, 120, 128)])
  func `the gap after an xrun is exact and reported once, and the latency is restored`(
    isLinked: Bool, counted: Int, captured: Int
  ) throws {
    let rig = try ALSADuplexRig(isLinked: isLinked)
    let (capture, playback) = (try #require(rig.capture), try #require(rig.playback))
    #expect(rig.wait() == "ready")
    rig.cycle()
    capture.pointee.code = -Int(EPIPE)
    #expect(rig.wait().contains(isLinked ? "playbackXrun" : "captureXrun"))
    // The stop is after the last wake-up that read frames, and 10 ms before now.
    let moment = Int(HostClock.nanoseconds)
    fake_clock_advance(10_000_000)
    defer { fake_clock_advance(-10_000_000) }
    capture.pointee.code = 0
    capture.pointee.stop_stamp = moment
    capture.pointee.stop_unread = counted
    capture.pointee.stamp = moment + 10_000_000
    if captured > counted {
      playback.pointee.stop_stamp = moment
      playback.pointee.stop_unread = 256
    }
    try rig.recover()
    #expect(playback.pointee.application == 128)
    #expect(playback.samples[..<128].allSatisfy { $0 == 0 })
    #expect(rig.wait() == "ready")
    #expect(rig.status.lostFrames == captured + 480 - 64)
    for cycle in 1...10 {
      rig.cycle()
      #expect(playback.pointee.application == 128 + 64 * cycle)
      #expect(rig.wait() == "ready" && rig.status.lostFrames == 0)
    }
  }

  @Test(arguments: [EPIPE, ESTRPIPE])
  func `an output that stops within a cycle is counted as one xrun`(code: Int32) throws {
    let (capture, playback) = (FakePCM.make(), FakePCM.make())
    playback.pointee.buffer = 256
    capture.pointee.companion = playback
    capture.pointee.refuses_link = true
    capture.pointee.step = 64
    let progress = UnitProgress()
    let writer = EventWriter<TimelineEvent>()
    var reader = writer.makeReader()
    var unit = DuplexUnit(
      device: try ALSADuplex(opening: .fake(capture, playback)), callbacks: DuplexClosures(),
      progress: progress, events: writer)
    try unit.start()
    for _ in 1...10 { #expect("\(unit.cycle())" == "ran") }
    playback.pointee.code = -Int(code)
    #expect("\(unit.cycle())" == "ran")
    playback.pointee.code = 0
    #expect("\(unit.cycle())" == "recovered")
    for _ in 1...10 { #expect("\(unit.cycle())" == "ran") }
    #expect(progress.playbackXruns + progress.captureXruns == 1)
    var events: [TimelineEvent] = []
    while let event = reader.read() { events.append(event) }
    #expect(events.map(\.frame) == [11 * 64])
  }

  @Test func `an xrun that only the kernel reports is found when poll reports an error`() throws {
    let rig = try ALSADuplexRig()
    let capture = try #require(rig.capture)
    capture.pointee.events = POLLERR
    capture.pointee.step = 0
    capture.pointee.code = -Int(EPIPE)
    capture.pointee.is_code_hidden = true
    #expect(rig.wait().contains("playbackXrun"))
  }

  @Test func `a device with errors of unknown reason is lost after 16 waits`() throws {
    let rig = try ALSADuplexRig(step: 0)
    rig.capture?.pointee.events = POLLERR
    for _ in 1...16 { #expect(rig.wait() == "waiting") }
    #expect(rig.wait() == "lost")
  }

  @Test func `after a suspension both directions are resumed and restarted`() throws {
    let rig = try ALSADuplexRig()
    let (capture, playback) = (try #require(rig.capture), try #require(rig.playback))
    capture.pointee.code = -Int(ESTRPIPE)
    #expect(rig.wait() == "suspended")
    capture.pointee.code = 0
    capture.pointee.is_suspended = true
    playback.pointee.is_suspended = true
    try rig.recover()
    #expect(capture.pointee.resumed == 1 && playback.pointee.resumed == 1)
    #expect(capture.pointee.started == 2 && playback.pointee.application == 128)
  }

  @Test(arguments: [ENODEV, EIO])
  func `a device that disappears is lost`(code: Int32) throws {
    let rig = try ALSADuplexRig()
    rig.capture?.pointee.code = -Int(code)
    #expect(rig.wait() == "lost")
  }

  @Test func `an error within a cycle is reported by the next wait`() throws {
    let rig = try ALSADuplexRig()
    #expect(rig.wait() == "ready")
    rig.capture?.pointee.code = -Int(EPIPE)
    #expect(rig.capturedFrames() == nil)
    rig.capture?.pointee.code = 0
    #expect(rig.wait().contains("Xrun"))
    #expect(rig.wait() == "ready")
  }

  @Test(arguments: [true, false])
  func `a device that refuses frames 17 times in a row is lost`(isCapture: Bool) throws {
    let rig = try ALSADuplexRig(capture: isCapture, playback: !isCapture)
    let fake = try #require(rig.capture ?? rig.playback)
    fake.pointee.refusals = .max
    for _ in 1...16 {
      #expect(rig.wait() == "ready")
      rig.cycle()
      #expect(rig.wait().contains(isCapture ? "captureXrun" : "playbackXrun"))
      try rig.recover()
    }
    #expect(rig.wait() == "ready")
    rig.cycle()
    #expect(rig.wait() == "lost")
  }

  @Test func `only successive refusals are counted`() throws {
    let rig = try ALSADuplexRig(playback: false)
    for _ in 1...40 {
      rig.capture?.pointee.refusals = 8
      #expect(rig.wait() == "ready")
      rig.cycle()
      #expect(rig.wait().contains("captureXrun"))
      try rig.recover()
      #expect(rig.wait() == "ready")
      rig.cycle()
    }
  }

  @Test func `an output alone starts when a period and the headroom are queued`() throws {
    let rig = try ALSADuplexRig(capture: false)
    let playback = try #require(rig.playback)
    for _ in 1...2 {
      #expect(playback.pointee.started == 0)
      #expect(rig.wait() == "ready")
      rig.cycle()
    }
    #expect(playback.pointee.started == 0 && playback.pointee.application == 128)
    #expect(rig.wait() == "ready")
    #expect(playback.pointee.started == 1)
    // The wake-up occurs when no more than the headroom is queued.
    #expect(playback.pointee.hardware == 64)
  }

  @Test func `an output alone that is drained before its start is started and played`() throws {
    let rig = try ALSADuplexRig(capture: false)
    let playback = try #require(rig.playback)
    #expect(rig.wait() == "ready")
    rig.cycle()
    playback.pointee.move = 64
    rig.drain()
    #expect(playback.pointee.started == 1 && playback.pointee.drained == 1)
    #expect(playback.pointee.hardware >= 64 && !playback.pointee.is_running)
  }

  @Test(arguments: [Int.max, Int.min, 1 << 40])
  func `an impossible delay does not prevent an output from draining`(delay: Int) throws {
    let rig = try ALSADuplexRig(capture: false)
    let playback = try #require(rig.playback)
    #expect(rig.wait() == "ready")
    rig.cycle()
    playback.pointee.move = 64
    playback.pointee.delay = delay
    playback.pointee.delay_queries = 1
    rig.drain()
    #expect(playback.pointee.drained == 1)
  }

  @Test func `a closed device is opened again with the same settings and started`() throws {
    let rig = try ALSADuplexRig()
    let (capture, playback) = (try #require(rig.capture), try #require(rig.playback))
    rig.close()
    #expect(capture.pointee.closed == 1 && playback.pointee.closed == 1)
    capture.pointee.open_code = -ENODEV
    #expect(rig.pollForReconnection() == .absent)
    capture.pointee.open_code = 0
    playback.pointee.rate = 44100
    guard case .refused = rig.pollForReconnection() else {
      Issue.record("a device of another rate was taken")
      return
    }
    playback.pointee.rate = 48000
    #expect(rig.pollForReconnection() == .returned(cards: []))
    #expect(playback.pointee.application == 128)
    #expect(rig.wait() == "ready")
  }

  @Test func `the frames of an absence are counted as lost`() throws {
    let rig = try ALSADuplexRig()
    #expect(rig.wait() == "ready")
    rig.cycle()
    rig.close()
    // One poll for the device takes 100 ms.
    #expect(rig.pollForReconnection() == .returned(cards: []))
    #expect(rig.wait() == "ready" && rig.status.lostFrames >= 4800 - 64)
  }

  @Test func `the input of a server has returned when it delivers frames`() throws {
    let rig = try ALSADuplexRig(playback: false, isServer: true)
    let capture = try #require(rig.capture)
    rig.close()
    #expect(rig.pollForReconnection() == .absent && capture.pointee.opened == 2)
    capture.pointee.hardware = 1
    #expect(rig.pollForReconnection() == .returned(cards: []) && capture.pointee.opened == 2)
  }

  @Test(arguments: [true, false])
  func `only a server may grant a period that differs much from the request`(isServer: Bool) throws
  {
    let fake = FakePCM.make()
    fake.pointee.is_server = isServer
    fake.pointee.period = 512
    guard isServer else {
      #expect(throws: DeviceFailure.self) { _ = try ALSADuplex(opening: .fake(fake, nil)) }
      return
    }
    #expect(try ALSADuplex(opening: .fake(fake, nil)).configuration.periodFrames == 512)
  }
}
