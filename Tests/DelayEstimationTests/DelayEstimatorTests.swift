import AudioBasics
import DelayEstimation
import Glibc
import TestSupport
import Testing

@Suite struct DelayEstimatorTests {
  private func estimate(_ signal: DelayedSignal) -> DelayEstimate? {
    estimate(signal.reference, in: signal.recording)
  }

  private func estimate(
    _ reference: [Float], in recording: [Float],
    choice: DelayEstimator.Choice = .strongest
  ) -> DelayEstimate? {
    var estimator = DelayEstimator()
    estimator.choice = choice
    return estimator.estimate(reference: reference.span, in: recording.span)
  }

  @Test func `the curves of an answer have their peaks at its delay, and move with it`() throws {
    var random = SplitMix64(seed: 3)
    let signal = try #require(
      DelayedSignal(.plain, rate: 48000, signalToNoiseDB: 40, random: &random))
    var estimator = DelayEstimator()
    estimator.draws = true
    let answer = estimator.estimate(
      reference: signal.reference.span, in: signal.recording.span)
    let found = try #require(answer)
    for (moved, delay) in [
      (found, found.delayFrames), (found.moved(by: 100), found.delayFrames + 100),
    ] {
      for curve in [moved.correlation, moved.impulseResponse] {
        let peak = try #require(
          curve.values.indices.max { abs(curve.values[$0]) < abs(curve.values[$1]) })
        let place = curve.firstFrame + Double(peak) * curve.stepFrames
        #expect(abs(place - delay) <= curve.stepFrames)
      }
    }
  }

  @Test(arguments: [-10.0, 0, 20, 40])
  func `errors in white noise are within twice the Cramér-Rao bound`(level: Double) throws {
    var random = SplitMix64(seed: 17)
    var squares = 0.0
    let trials = 12
    for trial in 0..<trials {
      let rate = trial % 2 == 0 ? 8000 : 48000
      let signal = try #require(
        DelayedSignal(.plain, rate: rate, signalToNoiseDB: level, random: &random))
      let found = try #require(estimate(signal))
      let bound = DelayEstimate.bound(frames: rate, signalToNoise: pow(10, level / 10))
      let error = found.delayFrames - signal.delayFrames
      squares += error * error / (bound * bound)
      #expect(found.isInverted == signal.isInverted)
      #expect(!found.isDoubtful)
      #expect(abs(found.signalToNoiseDB - level) < 2)
      if level >= 20 { #expect(abs(error) < 0.01) }
    }
    #expect((squares / Double(trials)).squareRoot() < 2)
  }

  @Test(arguments: [DelayedSignal.Way.clipped, .bandLimited, .echoing], [20.0, 50])
  func `clipping, band limits and echoes change the delay by less than 0.05 frames`(
    way: DelayedSignal.Way, level: Double
  ) throws {
    var random = SplitMix64(seed: 4)
    for _ in 0..<4 {
      let signal = try #require(
        DelayedSignal(way, rate: 48000, signalToNoiseDB: level, random: &random))
      let found = try #require(estimate(signal))
      #expect(abs(found.delayFrames - signal.delayFrames) < 0.05)
      #expect(found.isInverted == signal.isInverted)
    }
  }

  @Test func `an echo is distinguished from the direct sound`() throws {
    var random = SplitMix64(seed: 9)
    let signal = try #require(
      DelayedSignal(.echoing, rate: 48000, signalToNoiseDB: 40, random: &random))
    let found = try #require(estimate(signal))
    #expect(found.arrivals.count == 2)
    let gains = found.arrivals.map { abs($0.gain) }
    #expect(abs(gains[1] / gains[0] - 0.5) < 0.01)
  }

  @Test(arguments: [-40.25, -3.5, 0])
  func `a recording may begin after its reference`(delay: Double) throws {
    let probe = ProbeSignal(seed: 3, frames: 8000).samples
    let lead = 64
    let shifted = try #require(delayed(probe, by: Double(lead) + delay, frames: 9000))
    // The first frames are removed, as if the recorder had been started late.
    let found = try #require(
      estimate(probe, in: Array(shifted[lead...])))
    #expect(abs(found.delayFrames - delay) < 0.001)
  }

  @Test func `the choice .first selects the first arrival although a later one is louder`() throws {
    let probe = ProbeSignal(seed: 5, frames: 24000).samples
    let direct = try #require(delayed(probe, by: 500.3, frames: 30000))
    let echo = try #require(delayed(probe, by: 812.8, frames: 30000))
    let recorded = zip(direct, echo).map { $0 * 0.5 + $1 }
    let strongest = try #require(estimate(probe, in: recorded))
    #expect(abs(strongest.delayFrames - 812.8) < 0.01)
    #expect(strongest.doubts.contains(.earlierArrival))
    let first = try #require(estimate(probe, in: recorded, choice: .first))
    #expect(abs(first.delayFrames - 500.3) < 0.01)
    #expect(abs(first.strongestFrames - 812.8) < 0.01)
    #expect(!first.isDoubtful)
  }

  @Test func `two arrivals of about the same strength are doubtful`() throws {
    let probe = ProbeSignal(seed: 6, frames: 24000).samples
    let one = try #require(delayed(probe, by: 300, frames: 30000))
    let other = try #require(delayed(probe, by: 700.5, frames: 30000))
    let recorded = zip(one, other).map { $0 + 0.95 * $1 }
    let found = try #require(estimate(probe, in: recorded))
    #expect(found.isDoubtful)
  }

  /// Returns `signal`, delayed by `delay` frames, in a recording of `frames` frames.
  private func delayed(_ signal: [Float], by delay: Double, frames: Int) -> [Float]? {
    DelayedSignal.delayed(signal, by: delay, frames: frames)
  }
}
