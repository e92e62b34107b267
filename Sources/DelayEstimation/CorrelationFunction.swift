import AudioSpectra
import Glibc

/// The correlation of two signals as a function of any lag, whole or not: band-limited, as the
/// signals are, and so exact between frames.
///
/// At lag t it is the sum over the bins of Re(X[k] exp(2 pi i k t / length)), X being the product
/// of one spectrum with the other's conjugate, weighted.
struct CorrelationFunction {
  /// Value, slope and curvature at one lag.
  struct Point {
    var value = 0.0
    var slope = 0.0
    var curvature = 0.0
  }

  /// The weighted products, a bin each; the first and the last do not count.
  private(set) var bins: [ComplexFloat]
  /// Frames of the transform they come from.
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

  /// The function at `lag` frames.
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

  /// Takes out what an arrival at `lag` of `gain` adds, `energy` being the weighted power of the
  /// reference at each bin.
  mutating func subtract(gain: Double, at lag: Double, energy: [Float]) {
    turn(gain: gain, lag: lag) { $1 * energy[$0] }
  }

  /// The same from a spectrum, `spectrum` being the reference's.
  mutating func subtract(gain: Double, at lag: Double, spectrum: [ComplexFloat]) {
    turn(gain: gain, lag: lag) { $1 * spectrum[$0] }
  }

  /// Takes from each bin what `share` makes of it and of `gain`, delayed by `lag`.
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
