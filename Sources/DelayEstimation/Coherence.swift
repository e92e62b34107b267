import AudioSpectra
import Glibc

/// A recording beside a reference that comes at a given delay, part by part of the spectrum.
///
/// The coherence of a part is the magnitude of the mean product of both spectra, squared, over the
/// product of their mean powers. Chance alone makes it 1 / n where n bins share the power evenly, and 1
/// where a single bin has all of it: a tone says nothing about coherence.
struct Coherence {
  /// What the reference was multiplied by in each part, without its sign.
  let gains: [Double]
  /// How much of what was recorded in each part is the reference, from 0 to 1.
  let shares: [Double]
  /// The same without what chance adds.
  let surplus: [Double]
  /// The root of the mean power of the recording times that of the reference, at a bin of each part.
  private let scales: [Double]
  /// How much likelier the recording is with the reference in it than without: a natural logarithm, less
  /// what chance adds.
  let likelihood: Double
  private let binCount: Int

  /// That of `cross` (the recording's spectrum times the reference's conjugate), `power` and
  /// `recordedPower` being the powers of reference and recording at each bin, `delay` in frames.
  init(
    cross: [ComplexFloat], power: [Float], recordedPower: [Float], length: Int, delay: Double,
    parts: Int
  ) {
    let count = cross.count
    var along = [Double](repeating: 0, count: parts)
    var across = along
    var powers = along
    var recorded = along
    var products = along
    var sizes = along
    let step = 2 * Double.pi * delay / Double(length)
    let (turnReal, turnImaginary) = (cos(step), sin(step))
    var (real, imaginary) = (1.0, 0.0)
    for bin in 1..<max(2, count - 1) {
      let part = min(parts - 1, bin * parts / count)
      let nextReal = real * turnReal - imaginary * turnImaginary
      imaginary = real * turnImaginary + imaginary * turnReal
      real = nextReal
      let product = (Double(cross[bin].real), Double(cross[bin].imaginary))
      along[part] += product.0 * real - product.1 * imaginary
      across[part] += product.0 * imaginary + product.1 * real
      powers[part] += Double(power[bin])
      recorded[part] += Double(recordedPower[bin])
      products[part] += product.0 * product.0 + product.1 * product.1
      sizes[part] += 1
    }
    // Where the reference itself has next to nothing, a gain would be chance.
    let least = 0.01 * powers.reduce(0, +) / Double(parts)
    gains = (0..<parts).map {
      powers[$0] > least ? hypot(along[$0], across[$0]) / powers[$0] : 0
    }
    var shares = [Double](repeating: 0, count: parts)
    var raw = shares
    var chances = shares
    var likelihood = 0.0
    for part in 0..<parts where powers[part] > 0 && recorded[part] > 0 {
      let whole = powers[part] * recorded[part]
      let share = min(
        1, (along[part] * along[part] + across[part] * across[part]) / whole)
      if powers[part] > least { shares[part] = share }
      let chance = min(1, products[part] / whole)
      guard chance < 0.5 else { continue }
      (raw[part], chances[part]) = (share, chance)
      likelihood -= (1 / chance - 1) * log(max(1e-9, 1 - share)) + 1
    }
    surplus = Self.surplus(raw, chances)
    self.shares = shares
    self.likelihood = likelihood
    scales = (0..<parts).map {
      sizes[$0] > 0 ? (powers[$0] * recorded[$0]).squareRoot() / sizes[$0] : 0
    }
    binCount = count
  }

  /// What each bin of the product of two spectra is multiplied by so that its correlation becomes the
  /// logarithm of the likelihood of each lag: the weights of Hannan and Thomson, coherence over one less
  /// coherence, over the product's magnitude. (C. H. Knapp and G. C. Carter, "The generalized
  /// correlation method for estimation of time delay", IEEE Trans. Acoustics, Speech and Signal
  /// Processing 24, 1976; E. J. Hannan and P. J. Thomson, "Estimating group delay", Biometrika 60, 1973.)
  ///
  /// Noise that is 27 dB below the signal is as good as none: beyond, what is not explained is bent
  /// rather than noisy.
  var weights: [Float] {
    let weights = surplus.indices.map { part -> Float in
      let share = surplus[part]
      guard share > 0, scales[part] > 0 else { return 0 }
      return Float(2 * share.squareRoot() / max(0.002, 1 - share) / scales[part])
    }
    return (0..<binCount).map { weights[min(weights.count - 1, $0 * weights.count / binCount)] }
  }

  /// The bins of the parts in which the recording is the reference more than by chance.
  var bins: [Bool] {
    let parts = surplus.count
    return (0..<binCount).map { surplus[min(parts - 1, $0 * parts / binCount)] > 0.003 }
  }

  /// What `shares` have more than chance makes, `chances` being its means. A part alone shows that from
  /// six times chance on, which comes up once in four hundred; below, nine neighbours show it together.
  private static func surplus(_ shares: [Double], _ chances: [Double]) -> [Double] {
    shares.indices.map { part in
      guard chances[part] > 0 else { return 0 }
      if shares[part] > 6 * chances[part] { return shares[part] - chances[part] }
      let near = max(0, part - 4)..<min(shares.count, part + 5)
      let share = shares[near].reduce(0, +)
      let chance = chances[near].reduce(0, +)
      return share > 2.5 * chance ? (share - chance) / Double(near.count) : 0
    }
  }
}

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
  /// neighbours as finely as `score`, what the signal stands out of the noise by, allows.
  init(
    cross: [ComplexFloat], power: [Float], recordedPower: [Float], length: Int, delay: Double,
    score: Double
  ) {
    let count = cross.count
    // Every part keeps some seven standard deviations for itself.
    let parts = max(4, min(1024, min(count / 8, Int(clamping: score * score / 50))))
    let coherence = Coherence(
      cross: cross, power: power, recordedPower: recordedPower, length: length, delay: delay,
      parts: parts)
    let gains = coherence.gains
    let best = Self.typical(gains, weights: coherence.shares)
    gain = best
    // A part at an edge of the band may be half empty, unless it is about as strong as the best.
    func isAtEdge(_ index: Int) -> Bool {
      index == 0 || index == parts - 1
        || min(gains[index - 1], gains[index + 1]) < 0.15 * best
    }
    let inner = gains.indices.map { index in
      gains[index] > (isAtEdge(index) && parts > 16 ? 0.85 : 0.3) * best
    }
    bins = (0..<count).map { inner[min(parts - 1, $0 * parts / count)] }
    share = Double(inner.count { $0 }) / Double(parts)
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
