import AudioSpectra
import Glibc

/// The correlation of two signals as a function of any lag, also between frames. It is band-limited
/// like the signals, and therefore exact between frames.
///
/// At lag t it is the sum over the bins of Re(X[k] exp(2 pi i k t / length)), where X is the
/// weighted product of one spectrum with the conjugate of the other.
struct CorrelationFunction {
  /// The value, slope and curvature at one lag.
  struct Point {
    var value = 0.0
    var slope = 0.0
    var curvature = 0.0
  }

  /// The weighted products, one per bin. The first and the last are ignored.
  private(set) var bins: [ComplexFloat]
  /// The number of frames of the transform.
  let length: Int
  /// The bins from the first to the last that are not zero.
  private let active: Range<Int>

  init(bins: [ComplexFloat], length: Int) {
    self.bins = bins
    self.length = length
    let inner = 1..<max(2, bins.count - 1)
    let first = inner.first { bins[$0].power > 0 } ?? 1
    let last = inner.last { bins[$0].power > 0 } ?? 1
    active = first..<last + 1
  }

  /// Returns the value, slope and curvature at `lag` frames.
  func point(at lag: Double) -> Point {
    let step = 2 * Double.pi * lag / Double(length)
    let turnReal = cos(step)
    let turnImaginary = sin(step)
    var real = cos(step * Double(active.lowerBound - 1))
    var imaginary = sin(step * Double(active.lowerBound - 1))
    var point = Point()
    for bin in active {
      let nextReal = real * turnReal - imaginary * turnImaginary
      imaginary = real * turnImaginary + imaginary * turnReal
      real = nextReal
      let product = bins[bin]
      let along = Double(product.real) * real - Double(product.imaginary) * imaginary
      let across = Double(product.real) * imaginary + Double(product.imaginary) * real
      let frequency = Double(bin)
      point.value += along
      point.slope -= frequency * across
      point.curvature -= frequency * frequency * along
    }
    let unit = 2 * Double.pi / Double(length)
    point.slope *= unit
    point.curvature *= unit * unit
    return point
  }

  /// Subtracts the contribution of an arrival of `gain` at `lag` frames. `energy` is the weighted
  /// power of the reference at each bin.
  mutating func subtract(gain: Double, at lag: Double, energy: [Float]) {
    turn(gain: gain, lag: lag) { $1 * energy[$0] }
  }

  /// Subtracts the same contribution from a spectrum. `spectrum` is that of the reference.
  mutating func subtract(gain: Double, at lag: Double, spectrum: [ComplexFloat]) {
    turn(gain: gain, lag: lag) { $1 * spectrum[$0] }
  }

  /// Subtracts from each bin the result of `share` for the bin and for `gain`, delayed by `lag`
  /// frames.
  private mutating func turn(
    gain: Double, lag: Double, _ share: (Int, ComplexFloat) -> ComplexFloat
  ) {
    let step = -2 * Double.pi * lag / Double(length)
    let turnReal = cos(step)
    let turnImaginary = sin(step)
    var real = gain
    var imaginary = 0.0
    for bin in bins.indices {
      let taken = share(bin, ComplexFloat(Float(real), Float(imaginary)))
      bins[bin].real -= taken.real
      bins[bin].imaginary -= taken.imaginary
      let nextReal = real * turnReal - imaginary * turnImaginary
      imaginary = real * turnImaginary + imaginary * turnReal
      real = nextReal
    }
  }
}
