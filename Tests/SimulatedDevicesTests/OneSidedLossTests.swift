import AudioDevices
import Foundation
import RealtimeAudio
import Testing

@testable import SimulatedDevices

/// Tests of two devices of which one is lost and returns.
struct OneSidedLossTests {
  private static let pitch = 997.0 / 48000
  private static let ppm = 80.0

  private func tone(_ frames: Int) -> [Float] {
    (0..<frames).map { Float(0.89 * sine(Self.pitch, at: Double($0))) }
  }

  private func lose(
    _ side: String, master: ClockMaster, extra: String = "", feeding fed: [Float] = [],
    playing signal: [Float] = [], seconds: Int = 7, reconnects: Bool = true
  ) throws -> UnitResult {
    try UnitRun(
      settings: "drift=\(Self.ppm),unplug-at=1,replug-at=2,unplug-side=\(side)" + extra,
      master: master,
      feeding: fed, playing: signal, frames: seconds * 48000, reconnects: reconnects
    ).runOnTwoClocks()
  }

  @Test(arguments: ["", ",batch=48,jitter=1"], ClockMaster.allCases)
  func `while the input is absent the output continues, and the delay is the same afterwards`(
    extra: String, master: ClockMaster
  ) throws {
    let isNoisy = !extra.isEmpty
    let run = try lose(
      "capture", master: master, extra: extra, feeding: tone(11 * 48000),
      seconds: isNoisy ? 10 : 4)
    #expect(run.failure == nil)
    #expect(run.events.map(\.kind) == [.captureLost, .captureReturned])
    #expect(run.captureXruns == 0 && run.playbackXruns == 0)
    #expect(abs(run.lostFrames - 48000) < 1500)
    #expect(run.events.last?.frames == run.lostFrames)
    #expect(run.drift?.relocks == 1)
    #expect(run.heard[60000..<90000].allSatisfy { $0 == 0 || $0 == PlayAndCapture.missing })
    let delay = master == .playback ? run.configuration.resamplerDelayFrames : 0
    let pace = master == .playback ? 1 + Self.ppm * 1e-6 : 1
    let leads = lead(
      run.heard, cyclesPerFrame: Self.pitch, block: 480, from: (isNoisy ? 9 : 3) * 48000
    ) { ($0 - delay) * pace }
    // The length of the gap is known as accurately as the first reading: to the batch and the
    // jitter.
    let worst = isNoisy && master == .capture ? 96.0 : 1
    #expect((leads.map(abs).max() ?? 99) < worst)
  }

  @Test func `errors of the gaps of a noisy input do not accumulate`() throws {
    let pitch = 100.0 / 48000
    var gaps = ""
    for second in stride(from: 4, through: 48, by: 4) {
      gaps += ",unplug-at=\(second),replug-at=\(second + 1)"
    }
    let sound: [Float] = (0..<56 * 48000).map { frame in
      Float(0.89 * sine(pitch, at: Double(frame)))
    }
    let run = try UnitRun(
      settings: "drift=\(Self.ppm),unplug-side=capture,batch=48,jitter=1" + gaps, master: .capture,
      feeding: sound, frames: 53 * 48000, reconnects: true
    ).runOnTwoClocks()
    #expect(run.failure == nil)
    #expect(run.events.count == 24)
    for gap in 1...12 {
      let end: Int = gap * 192_000 + 168_000
      let heard = Array(run.heard[..<end])
      let leads = lead(heard, cyclesPerFrame: pitch, block: 4800, from: end - 24000) { $0 }
      // The length of each gap is known to the lateness of the first reading, 0 to 48 frames.
      #expect((leads.map(abs).max() ?? 99) < 28, "gap \(gap)")
    }
  }

  @Test(arguments: ["", ",batch=48,jitter=1"])
  func `while the output is absent no frame of the input is lost or repeated`(extra: String) throws
  {
    let fed = counter(4 * 48000)
    let run = try lose("playback", master: .capture, extra: extra, feeding: fed, seconds: 3)
    #expect(run.failure == nil)
    #expect(run.events.map(\.kind) == [.playbackLost, .playbackReturned])
    #expect(difference(run.heard, fed.prefix(3 * 48000)) == nil)
    #expect(run.lostFrames == 0 && run.captureXruns == 0 && run.playbackXruns == 0)
  }

  @Test(arguments: ["", ",batch=48,jitter=1"])
  func `without its master the unit uses the last estimate of the master's clock`(extra: String)
    throws
  {
    let isNoisy = !extra.isEmpty
    let run = try lose(
      "playback", master: .playback, extra: extra, feeding: tone(11 * 48000),
      seconds: isNoisy ? 10 : 4)
    #expect(run.events.map(\.kind) == [.playbackLost, .playbackReturned])
    #expect(run.lostFrames == 0 && run.captureXruns == 0 && run.playbackXruns == 0)
    let delay = run.configuration.resamplerDelayFrames
    let leads = lead(run.heard, cyclesPerFrame: Self.pitch, block: 480, from: 48000) {
      ($0 - delay) * (1 + Self.ppm * 1e-6)
    }
    // At all times, except while the two clocks are aligned again.
    let worst = isNoisy ? 8.0 : 1
    #expect((leads.map(abs).max() ?? 99) < worst)
    #expect((leads.suffix(90).map(abs).max() ?? 9) < 1)
  }

  @Test(arguments: ["", ",batch=48,jitter=1"], ClockMaster.allCases)
  func `an output that returns plays with the delay that it had`(
    extra: String, master: ClockMaster
  ) throws {
    let isNoisy = !extra.isEmpty
    let seconds = isNoisy ? 30 : 4
    let run = try lose(
      "playback", master: master, extra: ",delay=300" + extra, playing: tone(31 * 48000),
      seconds: seconds)
    #expect(run.drift?.relocks == 1)
    // The part of the delay that allows for steps of the input is reported.
    let latency = run.configuration.latencyFrames + Double(run.drift?.addedFrames ?? 0)
    let pace = master == .playback ? 1 : 1 / (1 + Self.ppm * 1e-6)
    let leads = lead(
      run.heard, cyclesPerFrame: Self.pitch, block: 480, from: (seconds - 1) * 48000
    ) { $0 - latency - 300 / pace }
    #expect((leads.map(abs).max() ?? 9) < (isNoisy ? 0.2 : 0.1))
    // The signal fades in, without a click.
    let back = run.heard.dropFirst(96000).prefix(48000)
    let first = back.firstIndex { abs($0) > 1e-4 } ?? 0
    #expect(run.heard[first..<first + 48].allSatisfy { abs($0) < 0.2 })
  }

  @Test(arguments: ClockMaster.allCases)
  func `both devices may be lost and return`(master: ClockMaster) throws {
    let run = try lose(
      "both", master: master, extra: ",delay=300", playing: tone(6 * 48000), seconds: 4)
    #expect(run.failure == nil)
    #expect(
      Set(run.events.map(\.kind))
        == [.captureLost, .playbackLost, .captureReturned, .playbackReturned])
    let pace = master == .playback ? 1 : 1 / (1 + Self.ppm * 1e-6)
    let leads = lead(run.heard, cyclesPerFrame: Self.pitch, block: 480, from: 3 * 48000) {
      $0 - run.configuration.latencyFrames - 300 / pace
    }
    #expect((leads.map(abs).max() ?? 9) < 0.1)
  }

  @Test func `the lost device may be a different one each time`() throws {
    let run = try UnitRun(
      settings:
        "unplug-at=1,replug-at=2,unplug-at=3,replug-at=4,unplug-at=5,replug-at=6,unplug-side=capture,"
        + "unplug-side=playback", master: .capture, frames: 7 * 48000, reconnects: true
    ).runOnTwoClocks()
    #expect(run.failure == nil)
    // The last `unplug-side` applies to all later absences.
    #expect(
      run.events.map(\.kind) == [
        .captureLost, .captureReturned, .playbackLost, .playbackReturned, .playbackLost,
        .playbackReturned,
      ])
  }

  @Test(arguments: ["capture", "playback"], ClockMaster.allCases)
  func `a unit without reconnection ends when a device is lost`(side: String, master: ClockMaster)
    throws
  {
    let run = try lose(side, master: master, seconds: 2, reconnects: false)
    #expect(run.failure?.kind == .lost)
  }

  @Test(arguments: ["capture", "playback"])
  func `a device that does not return is reported at the end`(side: String) throws {
    let run = try UnitRun(
      settings: "drift=10,unplug-at=1,unplug-side=\(side)", frames: 2 * 48000, reconnects: true
    ).runOnTwoClocks()
    #expect(run.failure == nil)
    #expect(run.events.last?.kind == (side == "capture" ? .captureAbsent : .playbackAbsent))
    #expect(abs(run.lostFrames - (side == "capture" ? 48000 : 0)) < 500)
  }

  @Test func `the frames lost with an absent input are reported if the user ends the session`()
    throws
  {
    let run = try UnitRun(
      settings: "drift=10,unplug-at=1,unplug-side=capture", frames: 4 * 48000, reconnects: true,
      stoppingAt: 2 * 48000
    ).runOnTwoClocks()
    let absence = run.events.last
    #expect(absence?.kind == .captureAbsent)
    #expect(abs((absence?.frames ?? 0) - 48000) < 500)
    #expect(run.lostFrames == absence?.frames)
  }

  @Test func `an input that stalls for longer than a unit waits is treated as lost`() throws {
    let run = try UnitRun(
      settings: "drift=80,xrun-at=1,xrun-frames=300000", master: .capture, frames: 12 * 48000,
      reconnects: true
    ).runOnTwoClocks()
    #expect(run.failure == nil)
    #expect(run.events.filter { $0.frames > 0 }.map(\.kind) == [.captureReturned])
    #expect(run.events.first?.kind == .captureLost && run.heard.count == 12 * 48000)
  }

  @Test func `an input lost while it stalls leaves one gap from the position of the stall`() throws
  {
    let run = try UnitRun(
      settings:
        "drift=80,xrun-at=2,xrun-frames=48000,unplug-at=2.5,unplug-side=capture,replug-at=3.5",
      feeding: tone(7 * 48000), frames: 6 * 48000, reconnects: true
    ).runOnTwoClocks()
    let gap = try #require(run.events.last { $0.kind == .captureReturned })
    #expect(abs(gap.frame - 2 * 48000) < 600 && run.lostFrames == gap.frames)
    // After the gap there is a signal again, except for the fade-in and the time in which the delay
    // settles.
    let end = gap.frame + gap.frames + 24000
    #expect(run.heard[gap.frame + 1000..<gap.frame + gap.frames - 1000].allSatisfy { $0 == 0 })
    #expect(run.heard[end..<end + 48000].contains { abs($0) > 0.8 })
  }
}
