import AudioBasics
import Glibc

/// The weights of an interpolator: a sinc under a Kaiser window.
public enum KaiserSinc {
  /// Makes frame `row` of `taps` the weights of 2 x `halfWidth` frames for a value `fraction` of a
  /// frame after the one before the middle. They add up to 1. Not on the audio thread.
  public static func design(
    _ taps: inout SampleBuffer, row: Int, halfWidth: Int, fraction: Double
  ) {
    let slope = 0.1 * 2 * Double.pi
    let attenuation = 2.285 * slope * Double(2 * halfWidth - 1) + 8
    let beta = max(2.5, 0.1102 * (attenuation - 8.7))
    let width = 2 * halfWidth
    var values: [Double] = []
    for tap in 0..<width {
      let distance = fraction - Double(tap - halfWidth + 1)
      let edge = distance / Double(halfWidth)
      let window = bessel(beta * max(0, 1 - edge * edge).squareRoot()) / bessel(beta)
      let angle = Double.pi * distance
      values.append((abs(angle) < 1e-9 ? 1 : sin(angle) / angle) * window)
    }
    let sum = values.reduce(0, +)
    for tap in 0..<width { taps[row * width + tap] = Float(values[tap] / sum) }
  }

  /// The modified Bessel function of order 0, by its series.
  private static func bessel(_ x: Double) -> Double {
    var sum = 1.0
    var term = 1.0
    var order = 1.0
    while term > sum * 1e-17 {
      term *= (x / (2 * order)) * (x / (2 * order))
      sum += term
      order += 1
    }
    return sum
  }
}
