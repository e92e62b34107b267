import AudioSpectra

/// The part of the spectrum in which a signal was received: within 10 dB of its typical gain.
struct SignalBand {
  /// Whether each bin is part of the band.
  let bins: [Bool]
  /// The fraction of all bins that are part of the band.
  let share: Double
  /// The magnitude of the typical gain of the signal.
  let gain: Double

  /// Determines the band of a signal with a delay of `delay` frames, as in `Coherence`. The noise
  /// limits the frequency resolution. `recordedDensity` is the density of `recordedPower`.
  init(
    cross: [ComplexFloat], power: [Float], recordedPower: [Float], length: Int, delay: Double,
    recordedDensity: PowerDensity
  ) {
    // Each part must be at least seven standard deviations above the noise.
    let spectrum = SpectrumParts(
      cross: cross, power: power, recordedPower: recordedPower, length: length, delay: delay,
      count: max(4, min(1024, cross.count / 8))
    ).joined(likelihood: 49, power: power, recordedDensity: recordedDensity)
    let coherence = Coherence(spectrum)
    let gains = coherence.gains
    let best = Self.typical(gains, weights: coherence.shares)
    gain = best
    // A part at an edge of the band may be half empty, unless its gain is about that of the best.
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

  /// Returns the typical gain: the median of the parts, weighted by their share of signal.
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
