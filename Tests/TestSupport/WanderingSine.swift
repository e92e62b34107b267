import Glibc

/// The best-fitting sine for a part of a recording whose clock is unknown: the pitch may vary
/// slowly.
///
/// The phase is measured every few milliseconds, and a polynomial fitted to these phases gives the
/// course of the pitch. Faster pitch variation and any level variation remain in the residue.
package struct WanderingSine {
  /// The best-fitting sine along the fitted course.
  package let fit: SineFit
  /// The frequency in the middle, in radians per frame.
  package let radians: Double

  private static let blockFrames = 240

  /// Fits a sine to `samples` whose phase is a polynomial of `degree`. Nil if the samples are
  /// silent.
  package init?(_ samples: [Float], degree: Int) {
    guard let radians = Self.frequency(samples) else { return nil }
    var positions = samples.indices.map(Double.init)
    // A wrong pitch causes small phase errors in each block, so a second pass repeats the
    // measurement with the pitch found by the first.
    for _ in 0..<2 {
      let phases = Self.phases(samples, at: positions, radians: radians)
      guard let course = LegendreSeries(fitting: phases, degree: degree) else { return nil }
      for index in positions.indices {
        let place = (Double(index) + 0.5) / Double(phases.count * Self.blockFrames) * 2 - 1
        positions[index] += course.value(at: place) / radians
      }
    }
    fit = SineFit(samples, at: positions, radians: radians)
    self.radians = radians
  }

  /// Returns the phase lead of each block's sine, in radians.
  private static func phases(
    _ samples: [Float], at positions: [Double], radians: Double
  ) -> [Double] {
    var phases: [Double] = []
    for start in stride(from: 0, through: samples.count - blockFrames, by: blockFrames) {
      let block = start..<start + blockFrames
      let fit = SineFit(Array(samples[block]), at: Array(positions[block]), radians: radians)
      let phase = atan2(-fit.parts.sine, fit.parts.cosine)
      let last = phases.last ?? phase
      phases.append(last + remainder(phase - last, 2 * .pi))
    }
    return phases
  }

  /// Returns the frequency in radians per frame. For three successive samples of a sine, the sum of
  /// the outer two is the middle one times twice the cosine of the frequency.
  private static func frequency(_ samples: [Float]) -> Double? {
    guard samples.count > 2 else { return nil }
    var (power, along) = (0.0, 0.0)
    for index in 1..<samples.count - 1 {
      let middle = Double(samples[index])
      power += middle * middle
      along += middle * (Double(samples[index - 1]) + Double(samples[index + 1]))
    }
    let cosine = along / (2 * power)
    return power > 0 && abs(cosine) < 1 ? acos(cosine) : nil
  }
}

/// A polynomial on -1 to 1 as a sum of Legendre polynomials, which stay numerically independent at
/// high degrees.
package struct LegendreSeries {
  private let coefficients: [Double]

  /// Fits a polynomial of `degree` to evenly spaced `values`, each the mean of its part of the
  /// interval from -1 to 1. Nil if there are too few values.
  package init?(fitting values: [Double], degree: Int) {
    guard degree >= 0, values.count > degree else { return nil }
    let count = degree + 1
    var rows = [[Double]](repeating: Array(repeating: 0, count: count + 1), count: count)
    for (index, value) in values.enumerated() {
      let terms = Self.terms(at: (Double(index) + 0.5) / Double(values.count) * 2 - 1, count)
      for row in 0..<count {
        for column in 0..<count { rows[row][column] += terms[row] * terms[column] }
        rows[row][count] += terms[row] * value
      }
    }
    // The terms are nearly orthogonal, so no row exchange is necessary.
    for pivot in 0..<count {
      for row in 0..<count where row != pivot {
        let factor = rows[row][pivot] / rows[pivot][pivot]
        for column in pivot...count { rows[row][column] -= factor * rows[pivot][column] }
      }
    }
    coefficients = rows.indices.map { rows[$0][count] / rows[$0][$0] }
  }

  package func value(at place: Double) -> Double {
    var (last, term) = (0.0, 1.0)
    var sum = 0.0
    for degree in coefficients.indices {
      sum += coefficients[degree] * term
      (last, term) = (term, Self.next(after: term, last, degree: degree, at: place))
    }
    return sum
  }

  private static func terms(at place: Double, _ count: Int) -> [Double] {
    var (last, term) = (0.0, 1.0)
    return (0..<count).map { degree in
      defer { (last, term) = (term, next(after: term, last, degree: degree, at: place)) }
      return term
    }
  }

  /// Returns the Legendre polynomial after that of `degree`, by Bonnet's recursion.
  private static func next(
    after term: Double, _ last: Double, degree: Int, at place: Double
  ) -> Double {
    (Double(2 * degree + 1) * place * term - Double(degree) * last) / Double(degree + 1)
  }
}
