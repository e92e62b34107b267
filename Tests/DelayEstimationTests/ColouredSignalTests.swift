import AudioBasics
import AudioSpectra
import DelayEstimation
import Glibc
import TestSupport
import Testing

/// Tests with recordings of signals other than probes: voices, music and sweeps.
@Suite struct ColouredSignalTests {
  private let frames = 32000
  private var random = SplitMix64(seed: 12)

  /// Returns noise that falls by 6 or by 12 dB per octave, in syllables.
  private mutating func voice(isDark: Bool) -> [Float] {
    var (once, twice) = (0.0, 0.0)
    let samples = (0..<frames).map { frame in
      once = 0.95 * once + random.normal()
      twice = 0.95 * twice + once
      return (isDark ? twice : once) * abs(sin(Double(frame) / 2500))
    }
    let peak = samples.reduce(0) { max($0, abs($1)) }
    return samples.map { Float(0.7 * $0 / peak) }
  }

  private mutating func estimate(_ reference: [Float], in recording: [Float]) -> DelayEstimate? {
    let noisy = recording.map { $0 + Float(1e-4 * random.normal()) }
    return DelayEstimator().estimate(reference: reference.span, in: noisy.span)
  }

  @Test(arguments: 1...4)
  mutating func `the delay of a voice without treble is within 1 frame`(seed: UInt64) throws {
    random = SplitMix64(seed: seed)
    let reference = voice(isDark: false)
    // A windowed sinc of 2049 taps, whose ends leave some treble at a distance of 1024 frames.
    let share = 0.02 + 0.0025 * Double(seed)
    let filter = (-1024...1024).map { tap in
      let angle = Double.pi * share * Double(tap)
      let window = 0.54 + 0.46 * cos(Double.pi * Double(tap) / 1024)
      return Float(share * window * (tap == 0 ? 1 : sin(angle) / angle))
    }
    let delayed = try #require(DelayedSignal.delayed(reference, by: 1000.25, frames: 36000))
    guard let transform = FourierTransform(atLeast: 40000) else { throw OutOfMemory() }
    let (spectrum, response) = (
      transform.spectrum(of: delayed.span), transform.spectrum(of: filter.span)
    )
    let recorded = transform.signal(of: spectrum.indices.map { spectrum[$0] * response[$0] })
    let found = try #require(estimate(reference, in: recorded))
    #expect(abs(found.delayFrames - 2024.25) < 1)
    #expect(!found.isInverted)
  }

  @Test mutating func `a hidden near echo makes a wrong delay doubtful`() throws {
    let reference = voice(isDark: true)
    let direct = try #require(DelayedSignal.delayed(reference, by: 1000.25, frames: 35000))
    let echo = try #require(DelayedSignal.delayed(reference, by: 1002.5, frames: 35000))
    let both = zip(direct, echo).map { $0 + 0.5 * $1 }
    let (alone, found) = (estimate(reference, in: direct), estimate(reference, in: both))
    // Nearly all of the power is at low frequencies: two weightings may disagree, but the answer
    // must be correct.
    #expect(alone?.doubts.allSatisfy { [.narrowBand, .disagreement].contains($0) } == true)
    #expect(abs((alone?.delayFrames ?? 0) - 1000.25) < 0.01)
    #expect(found?.isDoubtful == true || abs((found?.delayFrames ?? 0) - 1000.25) < 0.05)
  }

  @Test(arguments: [0.0, 50, 100])
  mutating func `a sweep recorded by a faster clock is doubtful`(ppm: Double) {
    // From 20 Hz to 20 kHz at 48 kHz.
    let frames = 120_000.0
    let scale = frames / log(1000.0)
    func sweep(_ time: Double) -> Float {
      guard (0..<frames).contains(time) else { return 0 }
      return Float(0.5 * sin(2 * Double.pi / 2400 * scale * (exp(time / scale) - 1)))
    }
    let recorded = (0..<125_000).map { sweep(Double($0) / (1 + ppm * 1e-6) - 1000) }
    let found = estimate((0..<120_000).map { sweep(Double($0)) }, in: recorded)
    #expect(found?.isDoubtful == (ppm > 0))
    // The delay of the first frame, without the drift.
    #expect(abs((found?.delayFrames ?? 0) - 1000 * (1 + ppm * 1e-6)) < (ppm == 0 ? 0.01 : 1))
    #expect(abs((found?.driftPPM ?? 0) - ppm) < 10)
    // A single measurement also has a confidence interval.
    #expect((found?.deviationFrames ?? 0) >= 1e-4)
  }
}

private struct OutOfMemory: Error {}
