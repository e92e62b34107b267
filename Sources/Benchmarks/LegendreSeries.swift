/// A polynomial from -1 to 1, as a sum of Legendre's, which stay apart however many there are.
struct LegendreSeries {
  private let coefficients: [Double]

  /// The one of `degree` that comes closest to `values`, evenly spaced, each the mean of its share
  /// of the way from -1 to 1. Nil where they are too few.
  init?(fitting values: [Double], degree: Int) {
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
    // They are all but perpendicular: no row need change places.
    for pivot in 0..<count {
      for row in 0..<count where row != pivot {
        let factor = rows[row][pivot] / rows[pivot][pivot]
        for column in pivot...count { rows[row][column] -= factor * rows[pivot][column] }
      }
    }
    coefficients = rows.indices.map { rows[$0][count] / rows[$0][$0] }
  }

  func value(at place: Double) -> Double {
    let terms = Self.terms(at: place, coefficients.count)
    return zip(coefficients, terms).reduce(0) { $0 + $1.0 * $1.1 }
  }

  /// Legendre's polynomials at `place`, by Bonnet's recursion.
  private static func terms(at place: Double, _ count: Int) -> [Double] {
    var terms = [1, place]
    for degree in stride(from: 1, to: count - 1, by: 1) {
      let next =
        Double(2 * degree + 1) * place * terms[degree] - Double(degree) * terms[degree - 1]
      terms.append(next / Double(degree + 1))
    }
    return Array(terms.prefix(count))
  }
}
