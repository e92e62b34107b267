import AudioBasics
import Glibc

/// Restores the low frequencies of a voice, which speexdsp's echo canceller (1.2.1) filters with a
/// notch at 0 Hz at its input: -3 dB at about 60 Hz at 48 kHz and at 130 Hz at 8 kHz. The effect of
/// the notch on the phase of a voice's fundamental is larger than on its level.
///
/// The notch is r (1 - 1/z)^2 / (1 - 2 r/z + d/z^2), d = r^2 + 0.7 (1 - r)^2. Its inverse has poles
/// at the zeros of the notch, moved into the unit circle. Frequencies below 30 Hz are not restored,
/// and neither is the residual echo there, where the canceller is least effective.
struct NotchInverse {
  /// The frequency in hertz below which nothing is restored.
  private static let lowest = 30.0

  private var filter: Biquad

  init(sampleRate: Int) {
    let radius = sampleRate < 12000 ? 0.9 : sampleRate < 24000 ? 0.982 : 0.992
    let inner = exp(-2 * .pi * Self.lowest / Double(sampleRate))
    filter = Biquad(
      b0: 1 / radius, b1: -2,
      b2: (radius * radius + 0.7 * (1 - radius) * (1 - radius)) / radius,
      a1: -2 * inner, a2: inner * inner)
  }

  /// Filters a block.
  mutating func run(_ block: inout [Int16]) {
    for frame in 0..<block.count {
      let sample = Double(SixteenBits.sample(block[frame]))
      block[frame] = SixteenBits.number(Float(filter.next(sample)))
    }
    filter.flushDenormals()
  }
}
