import AudioBasics
import Glibc

/// Gives a voice its lows back, which speexdsp's echo canceller (1.2.1) filters with a notch at 0
/// Hz before all else: 3 dB down at some 60 Hz at 48 kHz and 130 Hz at 8 kHz, and it turns the
/// phase of a voice's fundamental by more than it takes off.
///
/// The notch is r (1 - 1/z)^2 / (1 - 2 r/z + d/z^2), d = r^2 + 0.7 (1 - r)^2. Its inverse has its
/// poles where the notch has zeros, moved into the unit circle: what is below 30 Hz stays out, and
/// with it what is left of an echo there, where the canceller is at its weakest.
struct NotchInverse {
  /// Below this, in hertz, nothing is given back.
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
    filter.settle()
  }
}
