import Glibc

/// The sine that fits a stretch of a recording best whose clock is not known: its pitch may move,
/// but slowly.
///
/// Its phase is read off every few milliseconds, and a polynomial through these readings is taken
/// for the pitch's course. What is quicker than that is left over, as is all that moves the level.
struct WanderingSine {
  /// The sine, along the course that was found.
  let fit: SineFit
  /// Its frequency in radians a frame, about the middle.
  let radians: Double

  private static let blockFrames = 240

  /// Finds it in `samples`, its phase a polynomial of `degree`. Nil where nothing sounds.
  init?(_ samples: [Float], degree: Int) {
    guard let radians = Self.frequency(samples) else { return nil }
    var positions = samples.indices.map(Double.init)
    // Blocks of a wrong pitch tell a slightly wrong phase: what they told makes the next ones
    // right.
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

  /// By how much each block's sine is ahead, in radians.
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

  /// Of three samples of a sine in a row, the outer ones' sum is the middle one times twice the
  /// cosine of its frequency.
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
