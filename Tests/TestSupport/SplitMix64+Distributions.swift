import AudioBasics
import Glibc

extension SplitMix64 {
  /// Returns a number from a uniform distribution over `range`.
  package mutating func uniform(_ range: ClosedRange<Double>) -> Double {
    let unit = Double(next() >> 11) / 9_007_199_254_740_992
    return range.lowerBound + unit * (range.upperBound - range.lowerBound)
  }

  /// Returns a number from a normal distribution with mean 0 and deviation 1, by the Box-Muller
  /// transform.
  package mutating func normal() -> Double {
    let radius = (-2 * log(max(1e-300, uniform(0...1)))).squareRoot()
    return radius * cos(2 * Double.pi * uniform(0...1))
  }
}
