import AudioSpectra
import Glibc

/// The part of the spectrum in which a signal came through: within 10 dB of where it typically
/// came through.
struct SignalBand {
  /// Whether each bin is part of it.
  let bins: [Bool]
  /// The share of all bins that are.
  let share: Double
  /// What the signal was typically multiplied by, without its sign.
  let gain: Double

  /// The band of `cross` (the recording's spectrum times the reference's conjugate) for a signal
  /// that is `delay` frames late, `power` and `heardPower` being the powers of reference and
  /// recording at each bin. A band is told
  /// from its neighbours as finely as `score`, what the signal stands out of the noise by, allows.
  init(
    cross: [Complex], power: [Float], heardPower: [Float], length: Int, delay: Double,
    score: Double
  ) {
    let count = cross.count
    // Every part keeps some seven standard deviations for itself.
    let parts = max(4, min(1024, min(count / 8, Int(clamping: score * score / 50))))
    func part(_ bin: Int) -> Int { min(parts - 1, bin * parts / count) }
    var matches = [Double](repeating: 0, count: parts)
    var across = matches
    var powers = matches
    var heard = matches
    let step = 2 * Double.pi * delay / Double(length)
    for bin in 1..<max(2, count - 1) {
      let angle = step * Double(bin)
      let aligned =
        Double(cross[bin].real) * cos(angle) - Double(cross[bin].imaginary) * sin(angle)
      matches[part(bin)] += aligned
      across[part(bin)] +=
        Double(cross[bin].real) * sin(angle) + Double(cross[bin].imaginary) * cos(angle)
      powers[part(bin)] += Double(power[bin])
      heard[part(bin)] += Double(heardPower[bin])
    }
    // Where the reference itself has next to nothing, a gain would be chance.
    let least = 0.01 * powers.reduce(0, +) / Double(parts)
    let gains = (0..<parts).map {
      powers[$0] > least ? hypot(matches[$0], across[$0]) / powers[$0] : 0
    }
    // How much of what was heard in a part is the signal.
    let coherence = (0..<parts).map {
      heard[$0] > 0 && gains[$0] > 0 ? gains[$0] * gains[$0] * powers[$0] / heard[$0] : 0
    }
    let best = Self.typical(gains, weights: coherence)
    gain = best
    // A part at an edge of the band may be half empty, unless it is about as strong as the best.
    func isAtEdge(_ index: Int) -> Bool {
      index == 0 || index == parts - 1
        || min(gains[index - 1], gains[index + 1]) < 0.15 * best
    }
    let inner = gains.indices.map { index in
      gains[index] > (isAtEdge(index) && parts > 16 ? 0.85 : 0.3) * best
    }
    bins = (0..<count).map { inner[part($0)] }
    share = Double(inner.count { $0 }) / Double(parts)
  }

  /// The gain of the typical part: a median in which each counts by how much of it is signal.
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
