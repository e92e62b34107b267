import Glibc

/// A second-order filter in double precision, in the transposed direct form II.
///
/// Formulas: Robert Bristow-Johnson, "Cookbook formulae for audio equalizer biquad filter
/// coefficients" (W3C Audio EQ Cookbook).
///
/// ```swift
/// var filter = Biquad(highPass: 100, quality: 0.7071, sampleRate: 48000)
/// var last = 1.0
/// for _ in 0..<48000 { last = filter.next(1) }
/// precondition(abs(last) < 0.001)  // what does not move is taken off
/// ```
public struct Biquad: Sendable {
  @usableFromInline let b0, b1, b2, a1, a2: Double
  @usableFromInline var s1 = 0.0
  @usableFromInline var s2 = 0.0

  /// Creates a high-pass filter with the cutoff `frequency`, in Hz.
  public init(highPass frequency: Double, quality: Double, sampleRate: Double) {
    let angle = 2 * Double.pi * frequency / sampleRate
    let alpha = sin(angle) / (2 * quality)
    b0 = (1 + cos(angle)) / 2 / (1 + alpha)
    b1 = -2 * b0
    b2 = b0
    a1 = -2 * cos(angle) / (1 + alpha)
    a2 = (1 - alpha) / (1 + alpha)
  }

  /// Creates a band-pass filter centred on `frequency`, in Hz, with a gain of 1 at that frequency.
  public init(bandPass frequency: Double, quality: Double, sampleRate: Double) {
    let angle = 2 * Double.pi * frequency / sampleRate
    let alpha = sin(angle) / (2 * quality)
    b0 = alpha / (1 + alpha)
    b1 = 0
    b2 = -b0
    a1 = -2 * cos(angle) / (1 + alpha)
    a2 = (1 - alpha) / (1 + alpha)
  }

  /// Creates the filter (b0 + b1/z + b2/z^2) / (1 + a1/z + a2/z^2).
  package init(b0: Double, b1: Double, b2: Double, a1: Double, a2: Double) {
    (self.b0, self.b1, self.b2) = (b0, b1, b2)
    (self.a1, self.a2) = (a1, a2)
  }

  /// Filters one sample.
  @inlinable @inline(__always)
  public mutating func next(_ sample: Double) -> Double {
    let result = b0 * sample + s1
    s1 = b1 * sample - a1 * result + s2
    s2 = b2 * sample - a2 * result
    return result
  }

  /// Sets a state below 1e-30 in magnitude to zero. A decaying state would otherwise reach denormal
  /// numbers, which are slow to compute with; a state that small is inaudible.
  @inlinable @inline(__always)
  public mutating func flushDenormals() {
    if abs(s1) < 1e-30 { s1 = 0 }
    if abs(s2) < 1e-30 { s2 = 0 }
  }

  /// Clears the state of the filter.
  public mutating func reset() {
    s1 = 0
    s2 = 0
  }
}
