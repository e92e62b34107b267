import AudioSpectra
import Glibc

/// The part of the spectrum in which a signal came through: within 6 dB of where it typically came
/// through.
struct SignalBand {
  /// Whether each bin is part of it.
  let bins: [Bool]
  /// The share of all bins that are.
  let share: Double

  /// The band of `cross` (the recording's spectrum times the reference's conjugate) for a signal
  /// that is `delay` frames late, `power` being the reference's power at each bin. A band is told
  /// from its neighbours as finely as `score`, what the signal stands out of the noise by, allows.
  init(cross: [Complex], power: [Float], length: Int, delay: Double, score: Double) {
    let count = cross.count
    // Every part keeps some seven standard deviations for itself.
    let parts = max(4, min(1024, min(count / 8, Int(score * score / 50))))
    func part(_ bin: Int) -> Int { min(parts - 1, bin * parts / count) }
    var matches = [Double](repeating: 0, count: parts)
    var powers = [Double](repeating: 0, count: parts)
    let step = 2 * Double.pi * delay / Double(length)
    for bin in 1..<max(2, count - 1) {
      let angle = step * Double(bin)
      let aligned =
        Double(cross[bin].real) * cos(angle) - Double(cross[bin].imaginary) * sin(angle)
      matches[part(bin)] += aligned
      powers[part(bin)] += Double(power[bin])
    }
    // Where the reference itself has next to nothing, a gain would be chance.
    let least = 0.01 * powers.reduce(0, +) / Double(parts)
    let gains = (0..<parts).map { powers[$0] > least ? abs(matches[$0] / powers[$0]) : 0 }
    let best = Self.typical(gains, weights: matches)
    // A part at an edge of the band may be half empty, unless it is about as strong as the best.
    func isAtEdge(_ index: Int) -> Bool {
      index == 0 || index == parts - 1
        || min(gains[index - 1], gains[index + 1]) < 0.15 * best
    }
    let inner = gains.indices.map { index in
      gains[index] > (isAtEdge(index) && parts > 16 ? 0.85 : 0.5) * best
    }
    bins = (0..<count).map { inner[part($0)] }
    share = Double(inner.count { $0 }) / Double(parts)
  }

  /// The gain by which half of the signal came through, or more: a median in which parts count by
  /// what came through them, and chance does not.
  private static func typical(_ gains: [Double], weights: [Double]) -> Double {
    let half = weights.reduce(0) { $0 + abs($1) } / 2
    var sum = 0.0
    for index in gains.indices.sorted(by: { gains[$0] < gains[$1] }) {
      sum += abs(weights[index])
      if sum >= half { return gains[index] }
    }
    return 0
  }
}
