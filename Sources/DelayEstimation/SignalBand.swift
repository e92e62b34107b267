import AudioSpectra

/// The part of the spectrum in which a signal came through: within 10 dB of where it typically
/// came through.
struct SignalBand {
  /// Whether each bin is part of it.
  let bins: [Bool]
  /// The share of all bins that are.
  let share: Double
  /// What the signal was typically multiplied by, without its sign.
  let gain: Double

  /// The band for a signal that is `delay` frames late, as in `Coherence`. A band is told from its
  /// neighbours as finely as the noise allows, `recordedDensity` being that of `recordedPower`.
  init(
    cross: [ComplexFloat], power: [Float], recordedPower: [Float], length: Int, delay: Double,
    recordedDensity: PowerDensity
  ) {
    // Every part keeps some seven standard deviations for itself.
    let spectrum = SpectrumParts(
      cross: cross, power: power, recordedPower: recordedPower, length: length, delay: delay,
      count: max(4, min(1024, cross.count / 8))
    ).joined(likelihood: 49, power: power, recordedDensity: recordedDensity)
    let coherence = Coherence(spectrum)
    let gains = coherence.gains
    let best = Self.typical(gains, weights: coherence.shares)
    gain = best
    // A part at an edge of the band may be half empty, unless it is about as strong as the best.
    func isAtEdge(_ index: Int) -> Bool {
      index == 0 || index == gains.count - 1
        || min(gains[index - 1], gains[index + 1]) < 0.15 * best
    }
    let inner = gains.indices.map { index in
      gains[index] > (isAtEdge(index) && gains.count > 16 ? 0.85 : 0.3) * best
    }
    bins = spectrum.places.map { inner[$0] }
    share = Double(bins.count { $0 }) / Double(bins.count)
  }

  /// The gain of the typical part: a median in which each counts by how much of it is signal.
  private static func typical(_ gains: [Double], weights: [Double]) -> Double {
    let half = weights.reduce(0, +) / 2
    var sum = 0.0
    for index in gains.indices.sorted(by: { gains[$0] < gains[$1] }) {
      sum += weights[index]
      if sum >= half { return gains[index] }
    }
    return 0
  }
}
