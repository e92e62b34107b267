import AudioClocks
import Foundation
import Testing

struct FilteredClockTests {
  private static let second: UInt64 = 1_000_000_000

  /// Feeds the clock with readings of a clock of `rate` frames per second, one every millisecond.
  private func feed(
    _ clock: inout FilteredClock, rate: Double, from start: Double, seconds: Double,
    frames first: Int = 0
  ) {
    for step in 0..<Int(clamping: seconds * 1000) {
      let passed = Double(step) * 0.001
      // The number of complete frames, and the time of the last one.
      let frames = Int(clamping: passed * rate)
      let time = start + Double(frames) / rate
      clock.take(
        ClockReading(frames: first + frames, nanoseconds: UInt64(clamping: time * 1e9)))
    }
  }

  @Test(arguments: [47_760.0, 48_000, 48_240])
  func `the rate is found within 3 seconds`(rate: Double) {
    var clock = FilteredClock(framesPerSecond: 48_000)
    feed(&clock, rate: rate, from: 1, seconds: 3)
    #expect(abs(clock.framesPerSecond(at: 4 * Self.second) / rate - 1) < 1e-6)
    #expect(abs(clock.frames(at: 4 * Self.second) - 3 * rate) < 0.1)
  }

  @Test func `after a restart the clock follows its new readings`() {
    var clock = FilteredClock(framesPerSecond: 48_000)
    feed(&clock, rate: 48_010, from: 1, seconds: 5)
    clock.restart()
    #expect(!clock.isRunning)
    feed(&clock, rate: 48_010, from: 8.5, seconds: 2, frames: 500_000)
    #expect(abs(clock.frames(at: 10 * Self.second) - (500_000 + 1.5 * 48_010)) < 0.1)
  }

  @Test func `a jump of the clock is accepted within 2 seconds`() {
    var clock = FilteredClock(framesPerSecond: 48_000)
    feed(&clock, rate: 48_000, from: 1, seconds: 3)
    feed(&clock, rate: 48_000, from: 4, seconds: 2, frames: 200_000)
    #expect(abs(clock.frames(at: 6 * Self.second) - 296_000) < 0.1)
  }

  @Test func `readings that go back or are implausible are ignored`() {
    var clock = FilteredClock(framesPerSecond: 48_000)
    feed(&clock, rate: 48_000, from: 1, seconds: 3)
    let before = clock.frames(at: 5 * Self.second)
    clock.take(ClockReading(frames: 10, nanoseconds: 4 * Self.second))
    clock.take(ClockReading(frames: 144_000, nanoseconds: 0))
    clock.take(ClockReading(frames: 200_000, nanoseconds: .max))
    #expect(clock.frames(at: 5 * Self.second) == before)
  }

  /// The distribution of the readings' lateness, as parts of the largest lateness.
  enum Lateness {
    /// Uniform from 0 to 1; the mean of two uniform values; or 0 for half of the readings.
    case even, sum, seldom

    func next(_ random: () -> Double) -> Double {
      switch self {
      case .even: random()
      case .sum: (random() + random()) / 2
      case .seldom: random() < 0.5 ? 0 : random()
      }
    }
  }

  /// Returns the rate error in parts per million after `seconds` of a clock that is read once per
  /// batch, with readings 0 to `jitter` seconds late.
  private func error(
    batch: Int, jitter: Double, ppm: Double, seconds: Double, seed: UInt64,
    before: (ppm: Double, seconds: Double) = (0, 0), lateness: Lateness = .even
  ) -> Double {
    let (clock, now, _) = clock(
      batch: batch, jitter: jitter, ppm: ppm, seconds: seconds, seed: seed, before: before,
      lateness: lateness)
    return (clock.framesPerSecond(at: now) / 48_000 - 1) * 1e6 - ppm
  }

  /// Returns such a clock after `seconds`, the time, and the number of frames that have passed.
  private func clock(
    batch: Int, jitter: Double, ppm: Double, seconds: Double, seed: UInt64,
    before: (ppm: Double, seconds: Double) = (0, 0), lateness: Lateness = .even
  ) -> (FilteredClock, UInt64, Int) {
    var random = UniformNumbers(seed)
    var clock = FilteredClock(framesPerSecond: 48_000)
    var (frames, time) = (0, 1.0)
    while time < 1 + before.seconds + seconds {
      let rate = 48_000 * (1 + (time < 1 + before.seconds ? before.ppm : ppm) * 1e-6)
      frames += batch
      time += Double(batch) / rate
      let late = jitter * lateness.next { random.next() }
      clock.take(ClockReading(frames: frames, nanoseconds: UInt64(clamping: (time + late) * 1e9)))
    }
    return (clock, UInt64(clamping: time * 1e9), frames)
  }

  /// Returns the number of frames by which the clock is ahead of the truth at that time.
  private func lead(batch: Int, jitter: Double, seconds: Double, seed: UInt64) -> Double {
    let (clock, now, frames) = clock(
      batch: batch, jitter: jitter, ppm: 100, seconds: seconds, seed: seed)
    return clock.frames(at: now) - Double(frames)
  }

  /// No reading is early, and none is more than 2 ms (96 frames) late. The tolerance of 3 frames
  /// allows for the rate error of a crystal.
  @Test(arguments: [512, 1024, 2048], [0.3, 0.5])
  func `sparse late readings after a start are not mistaken for another rate`(
    batch: Int, seconds: Double
  ) {
    for seed in 1...100 {
      let lead = lead(batch: batch, jitter: 0.002, seconds: seconds, seed: UInt64(seed))
      #expect(lead < 3 && lead > -96 - 3)
    }
    let errors = (1...100).map {
      lead(batch: batch, jitter: 0.002, seconds: seconds, seed: UInt64($0))
    }
    #expect(deviation(errors) < (batch == 2048 ? 25 : 15))
  }

  @Test(arguments: [512, 1024, 2048], [0.5, 1, 2, 4, 8])
  func `the stated lateness covers the error of nearly all estimates`(batch: Int, seconds: Double) {
    let later = (1...200).filter { seed in
      let (clock, now, frames) = clock(
        batch: batch, jitter: 0.002, ppm: 100, seconds: seconds, seed: UInt64(seed))
      return clock.frames(at: now) + clock.lateFrames(at: now) < Double(frames)
    }
    #expect(later.count <= 12)
  }

  /// Within a short time after a restart even the earliest readings are late, here by half a frame.
  /// The clock corrects this with the lateness estimated before the restart, even if its rate had
  /// changed up and down.
  @Test(arguments: [0, 300])
  func `after a restart the clock is not late`(ppm: Int) {
    var leads = [[Double]](repeating: [], count: 4)
    for seed in 1...100 {
      var random = UniformNumbers(UInt64(seed))
      var clock = FilteredClock(framesPerSecond: 48_000)
      var (frames, time) = (0, 1.0)
      func run(seconds: Double, ppm: Double = 0) {
        for _ in 1...Int(clamping: seconds * 1000) {
          frames += 48
          time += 0.001 / (1 + ppm * 1e-6)
          let seen = UInt64(clamping: (time + 0.001 * random.next()) * 1e9)
          clock.take(ClockReading(frames: frames, nanoseconds: seen))
        }
      }
      for _ in 1...10 {
        run(seconds: 5 + 15 * random.next(), ppm: Double(ppm) * (2 * random.next() - 1))
      }
      run(seconds: 20)
      let ahead = clock.frames(at: UInt64(clamping: time * 1e9)) - Double(frames)
      clock.restart()
      frames = 0
      time += 2
      let start = time
      // The times 0.5, 1, 2 and 4 seconds after the restart.
      for index in 0..<4 {
        run(seconds: index == 0 ? 0.5 : 0.25 * Double(1 << index))
        leads[index].append(clock.frames(at: UInt64(clamping: start * 1e9)) - ahead)
      }
    }
    for leads in leads { #expect(abs(leads.reduce(0, +) / 100) < 0.1) }
  }

  private func deviation(_ errors: [Double]) -> Double {
    (errors.reduce(0) { $0 + $1 * $1 } / Double(errors.count)).squareRoot()
  }

  /// If the lateness of readings is known to be 0 to L, readings over T seconds with a distance of
  /// D determine the rate to about 3.4 L D / T² (simulated: the center of the lines that all
  /// readings allow, which has the least mean square error). The largest of these values is 1.3 ppm
  /// in 15 seconds.
  @Test(arguments: [128, 512, 1024, 2048], [0.0005, 0.002])
  func `the rate from sparse late readings is nearly as accurate as possible`(
    batch: Int, jitter: Double
  ) {
    let bound = 3.4e6 * jitter * Double(batch) / 48_000 / (15 * 15)
    for ppm in [-100.0, 100] {
      let soon = (1...16).map {
        error(batch: batch, jitter: jitter, ppm: ppm, seconds: 15, seed: $0)
      }
      // Smaller steps are evaluated by the Kalman filter.
      #expect(deviation(soon) < (bound < 0.1 ? 0.7 : 0.15) + 1.35 * bound)
      let late = (1...8).map {
        error(batch: batch, jitter: jitter, ppm: ppm, seconds: 60, seed: $0)
      }
      #expect(deviation(late) < 0.35)
    }
  }

  /// With two causes of lateness few readings are in time; with a rare cause most readings are.
  /// Neither must be taken for a different rate.
  @Test(arguments: [512, 1024, 2048], [Lateness.sum, .seldom])
  func `unevenly late readings are not mistaken for another rate`(
    batch: Int, lateness: Lateness
  ) {
    for (seconds, sumLimit) in [(10.0, 40.0), (20, 12), (60, 5)] {
      let errors = (1...60).map {
        error(
          batch: batch, jitter: 0.002, ppm: 50, seconds: seconds, seed: $0, lateness: lateness)
      }
      #expect(deviation(errors) < (lateness == .seldom ? 0.1 : sumLimit))
    }
  }

  @Test(arguments: [20.0, -20, 200, -200])
  func `a step of the rate is found from sparse late readings`(step: Double) {
    let errors = (1...8).map {
      error(batch: 1024, jitter: 0.002, ppm: step, seconds: 40, seed: $0, before: (0, 30))
    }
    #expect(deviation(errors) < 2)
  }

  /// 10 ppm of 48 kHz is one frame in 2 s, less than the error of a reading. The readings' lateness
  /// varies by ±0.5 frames.
  @Test(arguments: [3.0, 7, 11])
  func `a step of 10 ppm is found although single readings have a larger error`(swaySeconds: Double)
  {
    var clock = FilteredClock(framesPerSecond: 48_000)
    var (time, frames, worst) = (0.0, 0.0, 0.0)
    while time < 200 {
      time += 0.004
      frames += 192 * (time < 100 ? 1.00001 : 1)
      let late = 0.5 * (1 + sin(2 * .pi * time / swaySeconds)) / 48_000
      let now = UInt64(clamping: (1 + time + late) * 1e9)
      clock.take(ClockReading(frames: Int(clamping: frames.rounded(.down)), nanoseconds: now))
      let ppm = (clock.framesPerSecond(at: now) / 48_000 - 1) * 1e6
      if time > 120 { worst = max(worst, abs(ppm)) }
    }
    #expect(worst < 1)
  }

  /// One reading in twenty waits for a busy machine, by up to 10 ms.
  @Test func `a few successive late readings are not mistaken for another rate`() {
    var random = UniformNumbers(7)
    var clock = FilteredClock(framesPerSecond: 48_000)
    var (frames, time, worst) = (0, 1.0, 0.0)
    while time < 3600 {
      frames += 2048
      time += 2048 / 48_000.0
      let late = (random.next() < 0.05 ? 0.01 : 0.0002) * random.next()
      clock.take(ClockReading(frames: frames, nanoseconds: UInt64(clamping: (time + late) * 1e9)))
      let now = UInt64(clamping: time * 1e9)
      if time > 60 { worst = max(worst, abs(clock.framesPerSecond(at: now) / 48_000 - 1) * 1e6) }
    }
    #expect(clock.estimate.begunNanoseconds < 2 * Self.second)
    #expect(worst < 1)
  }

  /// A sound server that misses a cycle makes its devices stall for one quantum: the clock then has
  /// a different position but the same rate.
  @Test(arguments: [64, 256, 512, 1024], [1, 2, -1])
  func `a device that stalls for one step keeps its rate`(step: Int, missing: Int) {
    for seed in 1...20 {
      var random = UniformNumbers(UInt64(seed))
      var clock = FilteredClock(framesPerSecond: 48_000)
      let rate = 48_000 * 1.00005
      var (frames, time, wrongPPM, wrongFrames) = (0, 0.0, 0.0, 0.0)
      while time < 30 {
        frames += step
        let stood = Double(frames) / rate > 20.0137 ? Double(missing * step) / rate : 0
        let late = 0.0003 * random.next()
        time = Double(frames) / rate + stood + late
        let now = UInt64(clamping: (1 + time) * 1e9)
        clock.take(ClockReading(frames: frames, nanoseconds: now))
        guard time > 10 else { continue }
        let truth = Double(frames) + late * rate
        wrongPPM = max(wrongPPM, abs(clock.framesPerSecond(at: now) / rate - 1) * 1e6)
        if time > 21.5 { wrongFrames = max(wrongFrames, abs(clock.frames(at: now) - truth)) }
      }
      #expect(wrongPPM < 100)
      #expect(wrongFrames < 10)
    }
  }
}

/// Reproducible numbers from 0 to below 1: D. E. Knuth's linear congruential generator for MMIX.
private struct UniformNumbers {
  private var state: UInt64

  init(_ seed: UInt64) { state = seed }

  mutating func next() -> Double {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return Double(state >> 11) * 0x1p-53
  }
}
