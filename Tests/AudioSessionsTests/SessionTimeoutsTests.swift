import AudioDevices
import RealtimeAudio
import SimulatedDevices
import Testing

@testable import AudioSessions

/// Tests of the times for which a session waits, on a clock that the test advances.
@Suite struct SessionTimeoutsTests {
  private let second: UInt64 = 1_000_000_000

  @Test(arguments: [(false, UInt64(6)), (true, 20)])
  func `an audio thread that begins no turn is late after the limit, counted from its last turn`(
    reconnects: Bool, seconds: UInt64
  ) {
    var watchdog = AudioThreadWatchdog(reconnects: reconnects, at: 5 * second)
    #expect(watchdog.limitSeconds == Int(seconds))
    let first = watchdog.isInTime(0, isEnding: false, at: 6 * second)
    let last = watchdog.isInTime(0, isEnding: false, at: (6 + seconds) * second - 1)
    let late = watchdog.isInTime(0, isEnding: false, at: (6 + seconds) * second)
    let moved = watchdog.isInTime(1, isEnding: false, at: (6 + seconds) * second)
    #expect([first, last, late, moved] == [true, true, false, true])
  }

  @Test func `an audio thread has 200 ms to return once an end was requested`() {
    var watchdog = AudioThreadWatchdog(reconnects: true, at: 0)
    let asked = watchdog.isInTime(7, isEnding: true, at: 19 * second)
    let last = watchdog.isInTime(7, isEnding: true, at: 19 * second + 199_999_999)
    let late = watchdog.isInTime(7, isEnding: true, at: 19 * second + 200_000_000)
    #expect([asked, last, late] == [true, true, false])
  }

  @Test(arguments: [
    (0, 10), (1, 10), (999_999, 10), (1_000_000, 9), (9_000_001, 1), (9_999_999, 1),
    (10_000_000, 0), (UInt64(1) << 63, 0),
  ])
  func `a watcher rests in whole milliseconds until 10 ms after its call`(
    passed: UInt64, pauses: Int
  ) {
    var interval = WatchInterval()
    interval.begin(at: 3 * second)
    #expect(interval.pauses(at: 3 * second + passed) == pauses)
  }

  @Test func `a rest ends when the reason for it is over`() {
    var (paused, interval) = (0, WatchInterval())
    interval.begin(at: second)
    let time = SessionTime(now: { 1_000_000_000 }, pause: { paused += $0 })
    interval.rest(time, unless: { paused == 4 })
    #expect(paused == 4)
  }

  @Test func `a deadline is shortened at the user's request, and never prolonged`() {
    let patient = EndTimeout(isUrgent: false, at: second)
    #expect(!patient.isOver(at: 3 * second) && patient.isOver(at: 3 * second + 1))
    var shortened = patient
    shortened.shorten(at: 2 * second)
    #expect(!shortened.isOver(at: 2_125_000_000) && shortened.isOver(at: 2_125_000_001))
    shortened.shorten(at: 9 * second)
    #expect(shortened.isOver(at: 2_125_000_001))
    let urgent = EndTimeout(seconds: 3, urgentSeconds: 0.5, isUrgent: true, at: second)
    #expect(!urgent.isOver(at: 1_500_000_000) && urgent.isOver(at: 1_500_000_001))
  }

  @Test func `a watcher that returns at once is called with pauses`() throws {
    var runner = SessionRunner(
      device: try SimulatedDevice(
        SimulatedDeviceSpecification(parsing: "sim"),
        request: DuplexRequest(captureDevice: "sim", playbackDevice: "sim")),
      callbacks: Mixer(periodFrames: 256, captureChannels: 2, playbackChannels: 2),
      background: [], meter: nil, frameLimit: nil)
    // The clock advances by the pauses alone.
    var nanoseconds: UInt64 = 0
    runner.time = SessionTime(
      now: { nanoseconds },
      pause: { milliseconds in
        nanoseconds += UInt64(milliseconds) * 1_000_000
        HostClock.pause(milliseconds: milliseconds)
      })
    var calls: [UInt64] = []
    _ = try runner.run(clock: .real(.normal)) { _, granted in
      // Before the audio thread has begun, the rest ends with the wait for it.
      if granted != nil { calls.append(nanoseconds) }
      return calls.count < 20 ? .proceed : .stop(.key)
    }
    let watched = calls.prefix(20)
    #expect(watched.count == 20)
    #expect(zip(watched, watched.dropFirst()).allSatisfy { $1 - $0 == 10_000_000 })
  }
}
