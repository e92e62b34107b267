import AudioBasics
import Testing

@testable import AudioDevices

/// Tests of the delay allowance for an input that delivers frames in steps.
struct ArrivalDelayTests {
  private var arrival = ArrivalDelay(minimumFrames: 96, maximumFrames: 4096)
  private var now: UInt64 = 0

  /// Delivers steps of `step` frames for `seconds`, with a reading every 48 frames. Each `every`th
  /// step is 96 frames late. Returns how often the allowance changed.
  private mutating func deliver(
    _ step: Int, seconds: Double, isLearning: Bool, lateEvery every: Int = 0
  ) -> Int {
    var changes = 0
    for _ in 0..<Int(clamping: seconds * 1000) {
      now += 1_000_000
      let clock = Int(now / 1_000_000) * 48
      let isLate = every > 0 && clock / step % every == 0 && clock % step < 96
      let delivered = (isLate ? clock / step - 1 : clock / step) * step
      if arrival.note(
        delivered: delivered, spare: 0, clock: Double(clock), clockSeconds: Double(now) * 1e-9,
        at: now, isLearning: isLearning)
      {
        changes += 1
      }
    }
    return changes
  }

  /// Steps of 512 frames are read every 256 frames of a clock that differs by 100 ppm, so that for
  /// many seconds each step arrives just before a reading.
  @Test func `the time at which the input is read between its steps has no effect`() {
    var arrival = ArrivalDelay(minimumFrames: 384, maximumFrames: 4096)
    var minimum = Int.max
    for cycle in 1..<60 * 188 {
      let isLearning = cycle < 188
      // In the first second the input is read more often, as it is while a clock is not known yet.
      for part in isLearning ? 1...8 : 8...8 {
        let frames = (Double(cycle) + Double(part) / 8) * 256 * 1.0001
        _ = arrival.note(
          delivered: Int(rounding: frames) / 512 * 512, spare: 0, clock: frames,
          clockSeconds: frames / 48000, at: UInt64(clamping: frames / 48000 * 1e9),
          isLearning: isLearning)
      }
      if !isLearning { minimum = min(minimum, arrival.allowedFrames) }
    }
    #expect(minimum >= 512 && arrival.allowedFrames < 600)
  }

  @Test mutating func `small steps do not change the delay`() {
    #expect(deliver(48, seconds: 1, isLearning: true) == 0)
    #expect(arrival.allowedFrames == 96)
  }

  @Test(arguments: [192, 480, 1920])
  mutating func `a large step is found from its first deliveries`(step: Int) {
    #expect(deliver(step, seconds: 0.3, isLearning: true) > 0)
    #expect((step...step + step / 8 + 8).contains(arrival.allowedFrames))
  }

  @Test mutating func `a step that becomes larger counts when it persists`() {
    _ = deliver(48, seconds: 1, isLearning: true)
    #expect(deliver(960, seconds: 0.2, isLearning: false) == 0)
    #expect(deliver(960, seconds: 1, isLearning: false) > 0)
    #expect((960...1100).contains(arrival.allowedFrames))
  }

  @Test mutating func `a single late delivery does not increase the delay`() {
    _ = deliver(48, seconds: 1, isLearning: true)
    _ = deliver(4800, seconds: 0.1, isLearning: false)
    #expect(deliver(48, seconds: 10, isLearning: false) == 0)
    #expect(arrival.allowedFrames == 96)
  }

  /// Such steps count only after the clock has run undisturbed for some time, because its estimate
  /// is inaccurate at first.
  @Test mutating func `steps that are late about once per second finally count`() {
    _ = deliver(480, seconds: 0.5, isLearning: true)
    let allowed = arrival.allowedFrames
    #expect(deliver(480, seconds: 20, isLearning: false, lateEvery: 500) == 0)
    #expect(deliver(480, seconds: 20, isLearning: false, lateEvery: 50) == 1)
    #expect((allowed + 1...allowed + 40).contains(arrival.allowedFrames))
  }

  @Test mutating func `a step that becomes smaller reduces the delay`() {
    _ = deliver(1920, seconds: 0.5, isLearning: true)
    #expect(deliver(48, seconds: 20, isLearning: false) > 0)
    #expect(arrival.allowedFrames < 200)
  }

  @Test mutating func `no step increases the delay beyond the buffer`() {
    _ = deliver(48000, seconds: 5, isLearning: true)
    #expect(arrival.allowedFrames == 4096)
  }

  /// Cycles of `period` frames begin when a step completes them. The first cycle that a step
  /// completes is late by the step minus the frames missing before it.
  @Test(arguments: [
    (step: 256, period: 256, late: 0), (64, 256, 0), (1024, 256, 768), (480, 256, 448),
    (512, 16, 496),
  ])
  mutating func `an input that begins the cycles is late only by the frames that are due`(
    step: Int, period: Int, late: Int
  ) {
    for millisecond in 1...5000 {
      now += 1_000_000
      let clock = millisecond * 48
      let delivered = clock / step * step
      // The cycles have used all whole periods that were available at the previous reading.
      let captured = delivered % period
      _ = arrival.note(
        delivered: delivered, spare: period - captured, clock: Double(clock),
        clockSeconds: Double(now) * 1e-9, at: now, isLearning: millisecond < 1000)
    }
    let needed = late + late / 16 + 2
    #expect(arrival.allowedFrames >= max(96, needed - 48))
    #expect(arrival.allowedFrames <= max(96, needed + 4))
  }
}
