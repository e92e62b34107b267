import AudioBasics
import Glibc

/// The weights of an interpolator: a sinc with a window. Any thread but the audio thread.
public enum WindowedSinc {
  /// Stores in frame `row` of `taps` the weights of 2 x `halfWidth` frames, with a Kaiser window,
  /// for a value `fraction` of a frame after the frame before the middle. The weights sum to 1. Not
  /// on the audio thread. `taps` must have this frame, and room for the weights in it.
  public static func design(
    _ taps: inout SampleBuffer, row: Int, halfWidth: Int, fraction: Double
  ) {
    requirement(
      halfWidth > 0 && halfWidth <= taps.channelCount / 2,
      "The frames of the taps are too short for the weights.")
    taps.requireFrames(from: row, 1)
    let slope = 0.1 * 2 * Double.pi
    let attenuation = 2.285 * slope * Double(2 * halfWidth - 1) + 8
    let shape = max(2.5, 0.1102 * (attenuation - 8.7))
    let width = 2 * halfWidth
    let window = SincWindow.kaiser(KaiserWindow(shape: shape))
    var values: [Double] = []
    for tap in 0..<width {
      let distance = fraction - Double(tap - halfWidth + 1)
      values.append(value(at: distance, halfWidth: halfWidth, window: window))
    }
    let sum = values.reduce(0, +)
    for tap in 0..<width { taps[row, tap] = Float(values[tap] / sum) }
  }

  /// Returns the sinc `distance` frames from its middle, with a window that ends at `halfWidth` and
  /// stays constant beyond. The value is exactly 1 in the middle and 0 at every other whole frame.
  static func value(at distance: Double, halfWidth: Int, window: SincWindow) -> Double {
    if abs(distance) < 1e-9 { return 1 }
    if distance == distance.rounded() { return 0 }
    let angle = Double.pi * distance
    return sin(angle) / angle * window.value(at: min(1, abs(distance) / Double(halfWidth)))
  }
}

extension WeightRow {
  /// Stores these weights in frame `row` of `rows`. Not on the audio thread.
  static func store(_ weights: [Double], in rows: inout SampleBuffer, row: Int) {
    let start = row * sampleCount(weights: weights.count)
    for (index, weight) in weights.enumerated() { rows[start + index] = Float(weight) }
    moveMiddle(of: rows.base + start, weights: weights.count)
    let first = middle(weights: weights.count)
    addMiddle(
      SIMD8<Double>(weights[first..<first + 8]), to: rows.base + start, weights: weights.count)
  }
}

/// Window function that limits the length of a sinc. Any thread but the audio thread.
enum SincWindow: Sendable {
  /// A Kaiser window.
  case kaiser(KaiserWindow)
  /// A sum of cosines. Cosine number k has k half periods from the window's middle to its end.
  case cosines([Double])

  /// Returns the value at `part` of the distance from the middle, where it is 1, to the end.
  func value(at part: Double) -> Double {
    switch self {
    case .kaiser(let window):
      return window.value(at: part)
    case .cosines(let amplitudes):
      // Clenshaw's recurrence needs one cosine instead of one for each amplitude: a track of
      // another speed computes a whole table of windows when the speed changes.
      let cosine = cos(Double.pi * part)
      var (last, beforeLast) = (0.0, 0.0)
      for amplitude in amplitudes.dropFirst().reversed() {
        (last, beforeLast) = (amplitude + 2 * cosine * last - beforeLast, last)
      }
      return (amplitudes.first ?? 0) + cosine * last - beforeLast
    }
  }
}

/// The Kaiser window. A larger shape attenuates more and has a wider slope: J. F. Kaiser,
/// "Nonrecursive digital filter design using the I0-sinh window function", 1974. Any thread but the
/// audio thread.
struct KaiserWindow: Sendable {
  private let shape: Double
  private let peak: Double

  /// Creates the window whose beta is `shape`.
  init(shape: Double) {
    self.shape = shape
    peak = Self.bessel(shape)
  }

  /// Returns the value at `part` of the distance from the middle, where it is 1, to the end.
  func value(at part: Double) -> Double {
    Self.bessel(shape * max(0, 1 - part * part).squareRoot()) / peak
  }

  /// Returns the modified Bessel function of order 0, by its series.
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
