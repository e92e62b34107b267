import AudioBasics
import RealtimeAudio
import Testing

@testable import AudioDevices

/// Tests of two devices with two clocks, controlled by the test in virtual time.
@Suite struct AsynchronousPairTests {
  private final class Rig {
    let capture = MutexBox(TimedStream.Script())
    let playback = MutexBox(TimedStream.Script())
    private var device: AsynchronousPair
    private var samples = SampleBuffer(frameCount: 64, channelCount: 1)
    private(set) var status = DeviceStatus()
    private var events: [DeviceEvent] = []
    private(set) var lostFrames = 0
    private(set) var concealedFrames = 0
    /// The samples that the input delivered in the last cycle.
    private(set) var heard: [Float] = []

    init(
      _ master: ClockMaster, reconnects: Bool = false, catchUpSeconds: Double? = nil,
      captureBufferFrames: Int = 8192
    ) throws {
      var request = DuplexRequest(captureDevice: "timed", playbackDevice: "timed")
      request.periodFrames = 64
      device = AsynchronousPair(
        DevicePair(
          capture: DeviceStream(
            TimedStream(
              isInput: true, capture, catchUpSeconds: catchUpSeconds,
              bufferFrames: captureBufferFrames)),
          playback: DeviceStream(TimedStream(isInput: false, playback)),
          time: DeviceTime(isVirtual: true)),
        request: request, master: master)
      if reconnects { device.enableReconnection(reportingTo: MutexBox(nil)) }
      try device.start()
    }

    var now: UInt64 { device.time.now }

    /// Advances the time without a call to the device.
    func stand(milliseconds: UInt64) { device.time.sleep(until: now + milliseconds * 1_000_000) }

    func recover() throws { try device.recover() }

    func stop() { device.stop(draining: false) }

    /// Returns and removes the oldest reported event.
    func takeEvent() -> DeviceEvent? { events.isEmpty ? nil : events.removeFirst() }

    /// Waits once and runs a cycle if one is due. Returns the readiness.
    func turn() -> String {
      device.wait(noLongerThan: .max, &status)
      if status.hasEvents, let event = device.takeEvent() { events.append(event) }
      guard case .ready = status.readiness else { return "\(status.readiness)" }
      heard = []
      lostFrames += status.lostFrames
      concealedFrames += status.concealedFrames ?? 0
      if let lent = device.capturedFrames(64) {
        lent.decode(from: 0, frames: 64, into: &samples, at: 0)
        for frame in 0..<64 { heard.append(samples[frame]) }
        device.release(64)
      }
      if let room = device.playbackRoom(64) {
        room.clear(from: 0, frames: 64)
        device.commit(64)
      }
      return "ready"
    }

    /// Runs the next cycle. Returns whether one was due within 1000 waits.
    func cycle() -> Bool {
      for _ in 0..<1000 where turn() == "ready" { return true }
      return false
    }

    /// Runs cycles for this time. Returns each readiness other than `ready` and `waiting`.
    func run(milliseconds: UInt64) -> [String] {
      let end = now + milliseconds * 1_000_000
      var found: [String] = []
      // Limits the number of turns, in case no time passes.
      for _ in 0..<100_000 where now < end {
        let readiness = turn()
        if readiness != "ready" && readiness != "waiting" { found.append(readiness) }
      }
      return found
    }
  }

  @Test(arguments: [ClockMaster.capture, .playback])
  func `cycles are skipped after a stall of the machine while the master is absent`(
    master: ClockMaster
  ) throws {
    let rig = try Rig(master, reconnects: true)
    #expect(rig.run(milliseconds: 1000).isEmpty)
    (master == .capture ? rig.capture : rig.playback).withLock {
      $0.state = .lost
      $0.isAway = true
    }
    #expect(rig.run(milliseconds: 100).isEmpty)
    let lost = try #require(rig.takeEvent())
    #expect(lost.kind == (master == .capture ? .captureLost : .playbackLost))
    rig.stand(milliseconds: 2000)
    let began = rig.now
    let lostBefore = rig.lostFrames
    for _ in 1...100 { #expect(rig.cycle()) }
    // A cycle is 1.33 ms; without the input, two seconds at once would be 1500 cycles.
    #expect(rig.now - began > 120_000_000)
    #expect(abs(rig.lostFrames - lostBefore - 96000) < 500)
  }

  @Test func `sound fades in after a jump`() throws {
    let rig = try Rig(.playback, reconnects: true)
    #expect(rig.run(milliseconds: 1000).isEmpty)
    #expect(rig.heard.allSatisfy { abs($0 - 0.5) < 0.001 })
    rig.playback.withLock {
      $0.state = .lost
      $0.isAway = true
    }
    #expect(rig.run(milliseconds: 100).isEmpty)
    rig.stand(milliseconds: 2000)
    #expect(rig.cycle() && rig.status.lostFrames > 90000)
    var last: Float = 0
    for _ in 1...20 {
      for sample in rig.heard {
        #expect(abs(sample - last) < 0.002)
        last = sample
      }
      #expect(rig.cycle())
    }
    #expect(abs(last - 0.5) < 0.001)
  }

  @Test func `late frames of an input are reported once per second`() throws {
    let rig = try Rig(.playback)
    #expect(rig.run(milliseconds: 1500).isEmpty)
    func freeze() -> [String] {
      rig.capture.withLock { $0.frozenTime = rig.now }
      let found = rig.run(milliseconds: 50)
      rig.capture.withLock { $0.frozenTime = nil }
      return found + rig.run(milliseconds: 100)
    }
    #expect(freeze().count == 1 && freeze().isEmpty)
    #expect(rig.run(milliseconds: 1500).isEmpty)
    #expect(freeze().count == 1)
  }

  @Test func `an input that stalls without an error is restarted`() throws {
    let rig = try Rig(.playback)
    #expect(rig.run(milliseconds: 1000).isEmpty)
    rig.capture.withLock { $0.frozenTime = rig.now }
    #expect(rig.run(milliseconds: 95).count == 1)
    let end = rig.now + 20_000_000
    var found = "ready"
    for _ in 0..<1000 where rig.now < end && !found.contains("captureXrun") { found = rig.turn() }
    #expect(found.contains("captureXrun"))
    rig.capture.withLock { $0.frozenTime = nil }
    try rig.recover()
    #expect(rig.capture.withLock { $0.starts } == 2 && rig.playback.withLock { $0.starts } == 1)
    #expect(rig.run(milliseconds: 500).isEmpty)
  }

  @Test(arguments: [true, false])
  func `both devices are restarted after a suspension`(isInputAsked: Bool) throws {
    let rig = try Rig(.playback)
    #expect(rig.run(milliseconds: 200).isEmpty)
    let asked = isInputAsked ? rig.capture : rig.playback
    asked.withLock { $0.state = .suspended }
    #expect(rig.turn() == "suspended")
    asked.withLock { $0.state = nil }
    rig.stand(milliseconds: 1000)
    try rig.recover()
    #expect(rig.capture.withLock { $0.starts } == 2)
    #expect(rig.playback.withLock { $0.starts } == 2)
    let (lost, bridged) = (rig.lostFrames, rig.concealedFrames)
    #expect(rig.run(milliseconds: 200).isEmpty)
    // The time counts as a gap, and not additionally as concealed frames.
    #expect(abs(rig.lostFrames - lost - 48000) < 1000)
    #expect(rig.concealedFrames - bridged < 1000)
  }

  @Test(arguments: [true, false])
  func `a pause in which both devices stop is lost once`(isInputLast: Bool) throws {
    let rig = try Rig(.playback)
    #expect(rig.run(milliseconds: 1000).isEmpty)
    let before = rig.lostFrames + rig.concealedFrames
    rig.stand(milliseconds: 3000)
    for stopped in isInputLast ? [rig.playback, rig.capture] : [rig.capture, rig.playback] {
      stopped.withLock { $0.state = .xrun }
      #expect(rig.turn().contains("Xrun"))
      stopped.withLock { $0.state = nil }
      try rig.recover()
      // The input has frames when the output starts.
      if !isInputLast { rig.stand(milliseconds: 5) }
    }
    #expect(rig.run(milliseconds: 500).isEmpty)
    #expect(abs(rig.lostFrames + rig.concealedFrames - before - 144_000) < 500)
  }

  /// Pauses the program for three seconds, in which the output runs dry and the input's server keeps
  /// all frames, except for the last `dropped` of them.
  private func pause(_ rig: Rig, dropping dropped: Int = 0) throws {
    #expect(rig.run(milliseconds: 2000).isEmpty)
    rig.playback.withLock { $0.state = .xrun }
    rig.capture.withLock { $0.droppedFrames = dropped }
    rig.stand(milliseconds: 3000)
    #expect(rig.turn().contains("playbackXrun"))
    rig.playback.withLock { $0.state = nil }
    try rig.recover()
  }

  @Test(arguments: [ClockMaster.capture, .playback], [8192, 54272])
  func `frames that a server kept during a pause are not lost`(
    master: ClockMaster, bufferFrames: Int
  ) throws {
    let rig = try Rig(master, catchUpSeconds: 0.5, captureBufferFrames: bufferFrames)
    try pause(rig)
    let relocks = rig.status.drift?.relocks ?? 0
    var (cycles, silent) = (0, 0)
    let end = rig.now + 3_000_000_000
    for _ in 0..<100_000 where rig.now < end {
      let readiness = rig.turn()
      #expect(readiness == "ready" || readiness == "waiting")
      guard readiness == "ready" else { continue }
      cycles += 1
      if rig.heard.contains(where: { abs($0 - 0.5) > 0.01 }) { silent += 1 }
    }
    // Six seconds of cycles in three, without a gap.
    #expect(abs(cycles - 6 * 750) < 20 && silent == 0)
    #expect(rig.lostFrames == 0 && rig.concealedFrames == 0)
    // Only the output starts anew.
    #expect((rig.status.drift?.relocks ?? 0) - relocks <= 1)
    #expect(rig.status.drift?.addedFrames == 0 && abs(rig.status.drift?.ppm ?? 99) < 20)
    #expect(rig.capture.withLock { $0.starts } == 1)
  }

  @Test(arguments: [ClockMaster.capture, .playback])
  func `frames that a server dropped during a pause are lost once`(master: ClockMaster) throws {
    let rig = try Rig(master, catchUpSeconds: 0.5)
    try pause(rig, dropping: 96_000)
    let end = rig.now + 1_000_000_000
    var found = "ready"
    for _ in 0..<100_000 where rig.now < end && !found.contains("Xrun") { found = rig.turn() }
    #expect(found.contains("captureXrun"))
    try rig.recover()
    #expect(rig.run(milliseconds: 2000).isEmpty)
    #expect(abs(rig.lostFrames + rig.concealedFrames - 96_000) < 500)
    #expect(rig.heard.allSatisfy { abs($0 - 0.5) < 0.01 })
    #expect(rig.status.drift?.addedFrames == 0)
  }

  @Test func `frames left out while both devices are absent are counted once`() throws {
    let rig = try Rig(.playback, reconnects: true)
    #expect(rig.run(milliseconds: 1000).isEmpty)
    for lost in [rig.capture, rig.playback] {
      lost.withLock {
        $0.state = .lost
        $0.isAway = true
      }
    }
    #expect(rig.run(milliseconds: 100).isEmpty)
    rig.stand(milliseconds: 2000)
    #expect(rig.run(milliseconds: 100).isEmpty)
    for found in [rig.capture, rig.playback] {
      found.withLock {
        $0.state = nil
        $0.isAway = false
      }
    }
    #expect(rig.run(milliseconds: 500).isEmpty)
    var silent = 0
    while let event = rig.takeEvent() { silent += event.silentFrames }
    #expect(abs(rig.lostFrames + rig.concealedFrames + silent - 105_600) < 500)
  }

  @Test func `both searches end before a device is stopped`() throws {
    let rig = try Rig(.playback, reconnects: true)
    let endings = MutexBox<[String]>([])
    rig.capture.withLock { $0.endings = endings }
    rig.playback.withLock { $0.endings = endings }
    rig.stop()
    #expect(endings.withLock { $0 } == ["end", "end", "stop", "stop"])
  }

  @Test(arguments: [true, false], [true, false])
  func `a device that cannot be restarted is lost, and reconnected if requested`(
    isInput: Bool, reconnects: Bool
  ) throws {
    let rig = try Rig(.playback, reconnects: reconnects)
    #expect(rig.run(milliseconds: 200).isEmpty)
    let broken = isInput ? rig.capture : rig.playback
    broken.withLock {
      $0.state = .xrun
      $0.refusesStart = true
      $0.isAway = true
    }
    #expect(rig.turn().contains(isInput ? "captureXrun" : "playbackXrun"))
    guard reconnects else {
      #expect(throws: DeviceFailure.self) { try rig.recover() }
      return
    }
    try rig.recover()
    #expect(broken.withLock { $0.detachments } == 1)
    #expect(
      rig.turn() == "waiting" && rig.takeEvent()?.kind == (isInput ? .captureLost : .playbackLost))
    #expect(rig.run(milliseconds: 200).isEmpty)
    broken.withLock {
      $0.state = nil
      $0.isAway = false
    }
    #expect(rig.run(milliseconds: 500).isEmpty)
    #expect(rig.takeEvent()?.kind == (isInput ? .captureReturned : .playbackReturned))
  }
}
