import AudioBasics
import Glibc
import Testing
import VoiceCleaning

@Suite struct HighPassTests {
  /// Returns the gain in dB of a sine of `hertz` after the filter has settled.
  private func gain(at hertz: Double, cutoff: Double, sampleRate: Int) throws -> Double {
    let frames = sampleRate
    let sine = (0..<2 * frames).map {
      Float(0.5 * sin(2 * .pi * hertz * Double($0) / Double(sampleRate)))
    }
    let run = try CleaningRun(
      CleaningSettings(highPassHertz: cutoff), sine, sampleRate: sampleRate)
    #expect(run.delayFrames == 0)
    // One second is a whole number of periods of every frequency.
    let power = { (sound: [Float]) in
      sound[frames...].reduce(0) { $0 + Double($1) * Double($1) }
    }
    return 10 * log10(power(run.output) / power(sine))
  }

  @Test(arguments: [(8000, 100.0), (48000, 80), (48000, 10), (192_000, 1000)])
  func `a high-pass has the response of a Butterworth filter of the fourth order`(
    sampleRate: Int, cutoff: Double
  ) throws {
    for ratio in [0.5, 0.8, 1.0, 1.5, 3] {
      let hertz = cutoff * ratio
      // The bilinear transform warps frequencies: both by the same rule.
      let bent =
        tan(.pi * cutoff / Double(sampleRate)) / tan(.pi * hertz / Double(sampleRate))
      let expected = -10 * log10(1 + pow(bent, 8))
      let found = try gain(at: hertz, cutoff: cutoff, sampleRate: sampleRate)
      #expect(abs(found - expected) < 0.1)
    }
  }

  @Test(arguments: [8000, 96000], [10.0, 1000])
  func `a DC offset is removed, and the filter decays to exact silence`(
    sampleRate: Int, cutoff: Double
  ) throws {
    var sound = [Float](repeating: 0.5, count: sampleRate)
    sound += [Float](repeating: 0, count: 4 * sampleRate)
    let run = try CleaningRun(
      CleaningSettings(highPassHertz: cutoff), sound, sampleRate: sampleRate)
    #expect(abs(run.output[sampleRate - 1]) < 1e-6)
    #expect(run.output.last == 0)
    // Denormal numbers are slow to process; only a few occur during the decay.
    let denormal = run.output.count { $0.isSubnormal }
    #expect(denormal < 600)
  }

  @Test func `samples keep the precision of floating-point numbers`() throws {
    // Far below the resolution of 16 or 24 bits.
    let tone = (0..<4800).map { Float(1e-8 * sin(Double($0) * 0.3)) }
    let run = try CleaningRun(CleaningSettings(highPassHertz: 20), tone, sampleRate: 48000)
    let highest = run.output[2400...].max() ?? 0
    #expect(abs(highest - 1e-8) < 1e-10)
  }
}
