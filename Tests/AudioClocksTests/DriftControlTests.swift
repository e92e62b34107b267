import Testing

@testable import Benchmarks

struct DriftControlTests {
  /// The largest errors in parts per million and in frames, without 15 seconds after each time in
  /// `changes`, and the largest error of the delay at any time.
  private func worst(
    _ trial: ClockTrial, seconds: Double, after changes: [Double] = [0]
  ) -> (ratio: Double, delay: Double, ever: Double) {
    var worst = (ratio: 0.0, delay: 0.0, ever: 0.0)
    var next = 0
    trial.run(seconds: seconds) { moment in
      worst.ever = max(worst.ever, abs(moment.delayError))
      while next + 1 < changes.count, changes[next + 1] <= moment.seconds { next += 1 }
      guard moment.seconds > changes[next] + 15 else { return }
      worst.ratio = max(worst.ratio, abs(moment.ratioErrorPPM))
      worst.delay = max(worst.delay, abs(moment.delayError))
    }
    return worst
  }

  @Test func `an hour of drift in steps is followed within 1 ppm and 1 frame`() {
    let steps = [(0.0, 0.0), (600, 1), (1200, 0), (1800, 100), (2400, 0), (3000, 1000), (3600, 0)]
    let trial = ClockTrial(ClockTrial.Course(steps: steps.map { (seconds: $0, ppm: $1) }))
    let worst = worst(trial, seconds: 4200, after: steps.map(\.0))
    #expect(worst.ratio < 1)
    #expect(worst.delay < 1)
  }

  @Test func `an hour of wander is followed within 1 ppm and 1 frame`() {
    let trial = ClockTrial(
      ClockTrial.Course(steps: [(seconds: 0, ppm: 30)], wanderPPM: 20))
    let worst = worst(trial, seconds: 3600)
    #expect(worst.ratio < 1)
    #expect(worst.delay < 1)
  }

  @Test(arguments: [5000.0, -5000])
  func `a step of half a percent never moves the delay by two periods`(ppm: Double) {
    let trial = ClockTrial(
      ClockTrial.Course(steps: [(seconds: 0, ppm: 0), (seconds: 20, ppm: ppm)]))
    #expect(worst(trial, seconds: 45).ever < 128)
    let settled = worst(trial, seconds: 60, after: [0, 20, 30])
    #expect(settled.ratio < 2)
    #expect(settled.delay < 1)
  }

  @Test func `missing readings and nonsense do not matter`() {
    var trial = ClockTrial(ClockTrial.Course(steps: [(seconds: 0, ppm: 100)]))
    trial.spoiled = 20
    let worst = worst(trial, seconds: 120)
    #expect(worst.ratio < 1)
    #expect(worst.delay < 1)
  }

  @Test(arguments: [16, 256, 1024, 4096])
  func `exact clocks are followed exactly at any period`(period: Int) {
    var trial = ClockTrial(ClockTrial.Course(steps: [(seconds: 0, ppm: -300)]))
    trial.period = period
    trial.batch = 1
    trial.jitter = 0
    let worst = worst(trial, seconds: 60)
    #expect(worst.ratio < 0.1)
    #expect(worst.delay < 0.1)
  }
}
