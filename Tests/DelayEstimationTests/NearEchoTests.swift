import AudioBasics
import DelayEstimation
import Glibc
import TestSupport
import Testing

/// Tests with recordings in which echoes resemble another effect, or hide it.
@Suite struct NearEchoTests {
  private var random = SplitMix64(seed: 5)

  private mutating func estimate(_ reference: [Float], in recording: [Float]) -> DelayEstimate? {
    let noisy = recording.map { $0 + Float(1e-3 * random.normal()) }
    return DelayEstimator().estimate(reference: reference.span, in: noisy.span)
  }

  /// Returns sines of random frequencies up to `highest` cycles per frame, as a function of the
  /// time in frames; 0 outside of `frames`.
  private mutating func sines(below highest: Double, frames: Int) -> (Double) -> Double {
    let sines = (0..<60).map { _ in
      (
        frequency: 2 * Double.pi * random.uniform(0.0005...highest),
        phase: random.uniform(0...2 * Double.pi)
      )
    }
    return { time in
      guard (0..<Double(frames)).contains(time) else { return 0 }
      return sines.reduce(0) { $0 + 0.02 * sin($1.frequency * time + $1.phase) }
    }
  }

  @Test mutating func `an echo of a sweep is not mistaken for a drift`() throws {
    // From 50 Hz to 4 kHz at 48 kHz.
    let frames = 48000.0
    let scale = frames / log(80.0)
    let reference = (0..<48000).map { frame in
      Float(0.3 * sin(2 * Double.pi / 960 * scale * (exp(Double(frame) / scale) - 1)))
    }
    let direct = try #require(DelayedSignal.delayed(reference, by: 1000.25, frames: 51000))
    let echo = try #require(DelayedSignal.delayed(reference, by: 1013.25, frames: 51000))
    let found = try #require(estimate(reference, in: zip(direct, echo).map { $0 + 0.5 * $1 }))
    #expect(abs(found.delayFrames - 1000.25) < 0.1)
    #expect(found.driftPPM == 0)
  }

  @Test mutating func `a drift is found in spite of an echo`() throws {
    let frames = 64000
    let sound = sines(below: 0.007, frames: frames)
    let reference = (0..<frames).map { Float(sound(Double($0))) }
    let (delay, ppm) = (1000.25, 150.0)
    let recording = (0..<67000).map { frame in
      let time = (Double(frame) - delay) / (1 + 1e-6 * ppm)
      return Float(sound(time) - 0.55 * sound(time - 435))
    }
    let found = try #require(estimate(reference, in: recording))
    #expect(abs(found.delayFrames - delay) < 1)
    #expect(abs(found.driftPPM - ppm) < 10)
    #expect(found.doubts.contains(.drifting))
  }

  @Test func `an echo within the peak of a narrow band is resolved by its phase`() throws {
    var random = SplitMix64(seed: 5)
    for index in 0..<12 {
      let signal = try #require(
        DelayedSignal(.narrowEcho, rate: 96000, signalToNoiseDB: 40, random: &random))
      let found = DelayEstimator().estimate(
        reference: signal.reference.span, in: signal.recording.span)
      let delay = try #require(found?.delayFrames)
      #expect(abs(delay - signal.delayFrames) < (index < 4 ? 0.25 : 0.3))
    }
  }
}
