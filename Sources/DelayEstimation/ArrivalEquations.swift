/// The normal equations of an `ArrivalFit` where it stands: gains first, then delays.
struct ArrivalEquations {
  /// What the squares left come to, less what no fit changes.
  let cost: Double
  private let matrix: [[Double]]
  private let gradient: [Double]

  private var count: Int { gradient.count / 2 }

  init(_ fit: ArrivalFit) {
    let arrivals = fit.arrivals
    let count = arrivals.count
    var matrix = [[Double]](
      repeating: [Double](repeating: 0, count: 2 * count), count: 2 * count)
    var gradient = [Double](repeating: 0, count: 2 * count)
    var cost = 0.0
    for (one, arrival) in arrivals.enumerated() {
      let point = fit.cross.point(at: arrival.delayFrames)
      gradient[one] += point.value
      gradient[count + one] += arrival.gain * point.slope
      cost -= 2 * arrival.gain * point.value
      for (two, other) in arrivals.enumerated() where two >= one {
        let own = fit.own.point(at: arrival.delayFrames - other.delayFrames)
        let both = one == two ? 1.0 : 2.0
        cost += both * arrival.gain * other.gain * own.value
        gradient[one] -= other.gain * own.value
        gradient[count + one] -= arrival.gain * other.gain * own.slope
        if two != one {
          // The reference's own correlation is even, its slope odd.
          gradient[two] -= arrival.gain * own.value
          gradient[count + two] += arrival.gain * other.gain * own.slope
        }
        matrix[one][two] = own.value
        matrix[two][one] = own.value
        matrix[one][count + two] = -other.gain * own.slope
        matrix[count + two][one] = matrix[one][count + two]
        matrix[two][count + one] = arrival.gain * own.slope
        matrix[count + one][two] = matrix[two][count + one]
        matrix[count + one][count + two] = -arrival.gain * other.gain * own.curvature
        matrix[count + two][count + one] = matrix[count + one][count + two]
      }
    }
    self.cost = cost
    self.matrix = matrix
    self.gradient = gradient
  }

  /// The change of gains and delays that least squares ask for, held back by `damping`; nil where the
  /// equations have no answer.
  func step(damping: Double) -> (gains: [Double], delays: [Double])? {
    var damped = matrix
    for index in damped.indices { damped[index][index] *= 1 + damping }
    guard let change = Self.solve(damped, gradient) else { return nil }
    return (Array(change[..<count]), Array(change[count...]))
  }

  /// How many times larger the deviation of a delay is than if its arrival were alone.
  func inflation(of index: Int) -> Double {
    var unit = [Double](repeating: 0, count: gradient.count)
    unit[count + index] = 1
    guard let column = Self.solve(matrix, unit) else { return .infinity }
    return max(1, column[count + index] * matrix[count + index][count + index]).squareRoot()
  }

  /// Gauss's elimination with pivots, rows and columns scaled to ones on the diagonal.
  private static func solve(_ matrix: [[Double]], _ right: [Double]) -> [Double]? {
    let size = right.count
    let scale = (0..<size).map { matrix[$0][$0] > 0 ? 1 / matrix[$0][$0].squareRoot() : 0 }
    guard !scale.contains(0) else { return nil }
    var rows = (0..<size).map { row in
      (0..<size).map { matrix[row][$0] * scale[row] * scale[$0] } + [right[row] * scale[row]]
    }
    for column in 0..<size {
      let pivot =
        (column..<size).max { abs(rows[$0][column]) < abs(rows[$1][column]) } ?? column
      guard abs(rows[pivot][column]) > 1e-12 else { return nil }
      rows.swapAt(column, pivot)
      for row in 0..<size where row != column {
        let factor = rows[row][column] / rows[column][column]
        for place in column...size { rows[row][place] -= factor * rows[column][place] }
      }
    }
    let answer = (0..<size).map { rows[$0][size] / rows[$0][$0] * scale[$0] }
    return answer.contains { !$0.isFinite } ? nil : answer
  }
}
