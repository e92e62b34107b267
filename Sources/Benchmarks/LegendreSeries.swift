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

  /// Legendre's polynomial after that of `degree`, by Bonnet's recursion.
  private static func next(
    after term: Double, _ last: Double, degree: Int, at place: Double
  ) -> Double {
    (Double(2 * degree + 1) * place * term - Double(degree) * last) / Double(degree + 1)
  }
}
