import Glibc

/// Gives a voice its lows back, which speexdsp's echo canceller (1.2.1) filters with a notch at 0 Hz
/// before all else: 3 dB down at some 60 Hz at 48 kHz and 130 Hz at 8 kHz, and it turns the phase of
/// a voice's fundamental by more than it takes off.
///
/// The notch is r (1 - 1/z)^2 / (1 - 2 r/z + d/z^2), d = r^2 + 0.7 (1 - r)^2. Its inverse has its
/// poles where the notch has zeros, moved into the unit circle: what is below 30 Hz stays out, and
/// with it what is left of an echo there, where the canceller is at its weakest.
struct NotchInverse {
  /// Below this, in hertz, nothing is given back.
  private static let lowest = 30.0

  private let (scale, zero, zeros): (Double, Double, Double)
  private let (pole, poles): (Double, Double)
  /// What is still to be added to the next sample, and to the one after it.
  private var (next, last) = (0.0, 0.0)

  init(sampleRate: Int) {
    let radius = sampleRate < 12000 ? 0.9 : sampleRate < 24000 ? 0.982 : 0.992
    let inner = exp(-2 * .pi * Self.lowest / Double(sampleRate))
    scale = 1 / radius
    zero = -2
    zeros = (radius * radius + 0.7 * (1 - radius) * (1 - radius)) / radius
    (pole, poles) = (-2 * inner, inner * inner)
  }

  /// Filters a block.
  mutating func run(_ block: inout [Int16]) {
    for frame in 0..<block.count {
      let sample = Double(SixteenBits.sample(block[frame]))
      let result = scale * sample + next
      next = zero * sample - pole * result + last
      last = zeros * sample - poles * result
      block[frame] = SixteenBits.number(Float(result))
    }
    // Denormal numbers are slow.
    if abs(next) < 1e-30 { next = 0 }
    if abs(last) < 1e-30 { last = 0 }
  }
}
