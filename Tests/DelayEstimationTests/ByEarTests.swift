import DelayEstimation
import TestSupport
import Testing

/// Tests with random recordings of `Benchmarks by-ear` that earlier versions misjudged.
@Suite struct ByEarTests {
  private func expectRight(_ seed: UInt64) throws {
    let trial = try #require(ByEarTrial(seed: seed))
    let found = DelayEstimator().estimate(
      reference: trial.reference.span, in: trial.recording.span)
    let delay = try #require(found?.delayFrames)
    #expect(abs(delay - trial.delayFrames) <= trial.toleranceFrames)
  }

  /// Music below 445 Hz in noise, without an echo.
  @Test func `the slope of a low-pass is not mistaken for two arrivals`() throws {
    try expectRight(1257)
  }

  /// Noise below 780 Hz, with echoes 12 and 130 frames late; a peak is 34 frames wide.
  @Test func `an echo within half a peak's width is distinguished beside another echo`() throws {
    try expectRight(365)
  }

  /// Music with echoes of 0.55 and 0.46, 240 and 249 frames late.
  @Test func `echoes of music are found although their peaks are low`() throws {
    try expectRight(210)
  }

  /// A sweep with an echo of 0.37, 16 frames late, and a clock error of 74 ppm. Each frequency
  /// occurs at one time only, so five echoes without a drift explain the recording as well, and the
  /// delay is wrong by 7 frames.
  @Test func `an estimate that omits a measured drift is right or marked as doubtful`() throws {
    let trial = try #require(ByEarTrial(seed: 3526))
    let found = DelayEstimator().estimate(
      reference: trial.reference.span, in: trial.recording.span)
    let estimate = try #require(found)
    #expect(abs(estimate.delayFrames - trial.delayFrames) <= 0.5 || estimate.isDoubtful)
  }
}
