import Glibc

/// The shapes of a code in a level, hop by hop, calculated before the audio thread needs them.
struct PerturbationShapes {
  /// A constant, a line, a parabola and the returned code with each resonance, hop by hop.
  let columns: [[Double]]

  init() {
    let hops = PerturbationCode.reach
    let powers = (0..<3).map { power in
      (0..<hops).map { hop in
        (0..<power).reduce(1.0) { product, _ in product * (2 * Double(hop) / Double(hops) - 1) }
      }
    }
    let dips = Self.dips(isDeep: false).map { $0 / Double(LoopGainEstimator.dip(isDeep: false)) }
    let forms = [1.0, 1 / 5.0, 1 / 15.0].map { share in
      var last = 0.0
      return dips.map { dip in
        last += (dip - last) * share
        return last
      }
    }
    columns = powers + forms
  }

  /// Returns the change in dB that a code makes to the level of a steady sound, hop by hop.
  private static func dips(isDeep: Bool) -> [Double] {
    let powers = [1, 1, 1] + powers(isDeep: isDeep)
    return (0..<PerturbationCode.reach).map { hop in
      10 * log10(powers[hop..<hop + 4].reduce(0, +) / 4)
    }
  }

  /// Returns the factor by which a code changes the energy of each hop.
  static func powers(isDeep: Bool) -> [Double] {
    // The edges of a dip are ramps of one hop.
    func gain(_ hop: Int) -> Double {
      PerturbationCode.isDip(hop) ? pow(10, Double(LoopGainEstimator.dip(isDeep: isDeep)) / 20) : 1
    }
    return (0..<PerturbationCode.reach).map { hop in
      let (first, last) = (gain(hop - 1), gain(hop))
      return (first * first + first * last + last * last) / 3
    }
  }

  /// Returns the weights that make the columns orthonormal over the hops of a stage, one after
  /// another (Gram-Schmidt orthogonalisation). Each orthonormal column is the weighted sum of the
  /// columns; the weights of an unused column are zero.
  func orthonormalWeights(stage: Int) -> [[Double]] {
    let length = PerturbationCode.length(stage: stage)
    var basis: [(values: [Double], weights: [Double])] = []
    for (index, column) in columns.enumerated() {
      var values = Array(column[..<length])
      var weights = columns.indices.map { $0 == index ? 1.0 : 0 }
      // Half of the code is too similar to a parabola to be distinguished from one.
      if stage == 0 && (index == 2 || index > 3) {
        values = values.map { _ in 0 }
        weights = weights.map { _ in 0 }
      }
      for other in basis {
        let share = zip(values, other.values).reduce(0) { $0 + $1.0 * $1.1 }
        values = zip(values, other.values).map { $0 - share * $1 }
        weights = zip(weights, other.weights).map { $0 - share * $1 }
      }
      let norm = values.reduce(0) { $0 + $1 * $1 }.squareRoot()
      let scale = norm > 1e-9 ? 1 / norm : 0
      basis.append((values.map { $0 * scale }, weights.map { $0 * scale }))
    }
    return basis.map(\.weights)
  }
}
