import AudioClocks
import Testing

struct FilteredClockTests {
  private static let second: UInt64 = 1_000_000_000

  /// Feeds a clock of `rate` frames a second that is read every millisecond.
  private func feed(
    _ clock: inout FilteredClock, rate: Double, from start: Double, seconds: Double,
    frames first: Int = 0
  ) {
    for step in 0..<Int(clamping: seconds * 1000) {
      let passed = Double(step) * 0.001
      // The frames that are complete, and when the last of them was.
      let frames = Int(clamping: passed * rate)
      let time = start + Double(frames) / rate
      clock.take(
        ClockReading(frames: first + frames, nanoseconds: UInt64(clamping: time * 1e9)))
    }
  }

  @Test(arguments: [47_760.0, 48_000, 48_240])
  func `the rate is found within seconds`(rate: Double) {
    var clock = FilteredClock(framesPerSecond: 48_000)
    feed(&clock, rate: rate, from: 1, seconds: 3)
    #expect(abs(clock.framesPerSecond(at: 4 * Self.second) / rate - 1) < 1e-6)
    #expect(abs(clock.frames(at: 4 * Self.second) - 3 * rate) < 0.1)
  }

  @Test func `after a stop the clock goes by its new readings`() {
    var clock = FilteredClock(framesPerSecond: 48_000)
    feed(&clock, rate: 48_010, from: 1, seconds: 5)
    clock.restart()
    #expect(!clock.isRunning)
    feed(&clock, rate: 48_010, from: 8.5, seconds: 2, frames: 500_000)
    #expect(abs(clock.frames(at: 10 * Self.second) - (500_000 + 1.5 * 48_010)) < 0.1)
  }

  @Test func `a clock that jumps is believed after a while`() {
    var clock = FilteredClock(framesPerSecond: 48_000)
    feed(&clock, rate: 48_000, from: 1, seconds: 3)
    feed(&clock, rate: 48_000, from: 4, seconds: 2, frames: 200_000)
    #expect(abs(clock.frames(at: 6 * Self.second) - 296_000) < 0.1)
  }

  @Test func `readings that go back or say nothing new change nothing`() {
    var clock = FilteredClock(framesPerSecond: 48_000)
    feed(&clock, rate: 48_000, from: 1, seconds: 3)
    let before = clock.frames(at: 5 * Self.second)
    clock.take(ClockReading(frames: 10, nanoseconds: 4 * Self.second))
    clock.take(ClockReading(frames: 144_000, nanoseconds: 0))
    clock.take(ClockReading(frames: 200_000, nanoseconds: .max))
    #expect(clock.frames(at: 5 * Self.second) == before)
  }
}
