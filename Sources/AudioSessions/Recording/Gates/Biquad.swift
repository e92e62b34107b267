import Glibc

/// A filter of second order, by R. Bristow-Johnson's Audio EQ Cookbook, in the transposed second
/// direct form.
struct Biquad: Sendable {
  private let ahead: (Double, Double, Double)
  private let back: (Double, Double)
  private var first = 0.0
  private var second = 0.0

  /// Lets through what lies above `frequency`, in Hz.
  init(highPass frequency: Double, quality: Double, sampleRate: Double) {
    let angle = 2 * Double.pi * frequency / sampleRate
    let alpha = sin(angle) / (2 * quality)
    let gain = (1 + cos(angle)) / (2 * (1 + alpha))
    ahead = (gain, -2 * gain, gain)
    back = (-2 * cos(angle) / (1 + alpha), (1 - alpha) / (1 + alpha))
  }

  /// Lets through what lies around `frequency`, in Hz: that itself as loud as it came.
  init(bandPass frequency: Double, quality: Double, sampleRate: Double) {
    let angle = 2 * Double.pi * frequency / sampleRate
    let alpha = sin(angle) / (2 * quality)
    ahead = (alpha / (1 + alpha), 0, -alpha / (1 + alpha))
    back = (-2 * cos(angle) / (1 + alpha), (1 - alpha) / (1 + alpha))
  }

  @inline(__always)
  mutating func next(_ sample: Double) -> Double {
    let result = ahead.0 * sample + first
    first = ahead.1 * sample - back.0 * result + second
    second = ahead.2 * sample - back.1 * result
    return result
  }

  mutating func forget() {
    first = 0
    second = 0
  }
}

/// A band of fourth order: two equal filters, one after the other.
struct BandPass: Sendable {
  private var first: Biquad
  private var second: Biquad

  /// A band whose edges, in Hz, are let through at half their power.
  init(from bottom: Double, to top: Double, sampleRate: Double) {
    let centre = (bottom * top).squareRoot()
    // Each of the two loses a quarter of the power's logarithm at the edges: it must be wider.
    let quality = centre / (top - bottom) * (2.0.squareRoot() - 1).squareRoot()
    first = Biquad(bandPass: centre, quality: quality, sampleRate: sampleRate)
    second = first
  }

  @inline(__always)
  mutating func next(_ sample: Double) -> Double {
    second.next(first.next(sample))
  }

  mutating func forget() {
    first.forget()
    second.forget()
  }
}
