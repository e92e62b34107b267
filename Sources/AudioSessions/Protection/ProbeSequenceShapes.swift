/// What a code looks like in a level, worked out before there is any sound.
struct ProbeSequenceShapes {
  /// One column of the table: of length one, or silent where it is not used.
  struct Column {
    var values: [Double]
    /// How long it was before.
    var norm: Double
    /// What its values were on average before anything was taken off.
    var mean: Double
  }

  /// The forms of the code, hop by hop, a dip being 1.
  private var forms: [[Double]] = [[], [], []]

  init() {
    for hop in 0..<ProbeSequenceTable.reach {
      var sum = 0.0
      for part in max(0, hop - 3)...hop {
        // A dip's edges are ramps as long as a hop.
        sum += ProbeSequenceTable.isDip(part) ? 0.125 : 0
        sum += ProbeSequenceTable.isDip(part - 1) ? 0.125 : 0
      }
      forms[0].append(sum)
      for (form, ringing) in [(1, 5.0), (2, 15.0)] {
        let last = forms[form].last ?? 0
        forms[form].append(last + (sum - last) / ringing)
      }
    }
  }

  /// A constant, a line, a parabola and the forms of the code, each without what is in those
  /// before it, but for the other forms.
  func columns(stage: Int) -> [Column] {
    let length = ProbeSequenceTable.length(stage: stage)
    let silence = Column(values: [], norm: 0, mean: 0)
    var basis: [Column] = []
    for power in 0..<3 {
      let raw = (0..<length).map { hop in
        (0..<power).reduce(1.0) { product, _ in product * (Double(hop) / Double(length) - 0.5) }
      }
      // Half of the code is too much like a parabola to be told from one.
      basis.append(power < 2 || stage > 0 ? column(raw, without: basis) : silence)
    }
    return basis
      + forms.enumerated().map { form, values in
        form == 0 || stage > 0 ? column(Array(values[..<length]), without: basis) : silence
      }
  }

  private func column(_ raw: [Double], without basis: [Column]) -> Column {
    let rest = basis.reduce(raw) { rest, unit in
      let share = zip(rest, unit.values).reduce(0) { $0 + $1.0 * $1.1 }
      guard !unit.values.isEmpty else { return rest }
      return zip(rest, unit.values).map { $0 - share * $1 }
    }
    let norm = rest.reduce(0) { $0 + $1 * $1 }.squareRoot()
    return Column(
      values: norm > 0 ? rest.map { $0 / norm } : rest, norm: norm,
      mean: raw.reduce(0, +) / Double(raw.count))
  }
}
