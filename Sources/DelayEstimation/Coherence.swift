import AudioSpectra

/// A recording beside a reference that comes at a given delay, part by part of the spectrum.
///
/// The coherence of a part is the magnitude of the mean product of both spectra, squared, over the
/// product of their mean powers. Chance alone makes it 1 / n where n bins share the power evenly,
/// and 1 where a single bin has all of it: a tone says nothing about coherence.
struct Coherence {
  /// What the reference was multiplied by in each part, without its sign.
  let gains: [Double]
  /// How much of what was recorded in each part is the reference, from 0 to 1.
  let shares: [Double]
  /// The same without what chance adds.
  let surplus: [Double]
  /// How much likelier the recording is with the reference in it than without: a natural logarithm,
  /// less what chance adds.
  let likelihood: Double
  private let spectrum: SpectrumParts

  /// That of `cross` (the recording's spectrum times the reference's conjugate), `power` and
  /// `recordedPower` being the powers of reference and recording at each bin, `delay` in frames.
  init(
    cross: [ComplexFloat], power: [Float], recordedPower: [Float], length: Int, delay: Double,
    parts: Int
  ) {
    let spectrum = SpectrumParts(
      cross: cross, power: power, recordedPower: recordedPower, length: length, delay: delay,
      count: parts)
    self.init(spectrum)
  }

  /// That of the parts of a spectrum.
  init(_ spectrum: SpectrumParts) {
    let parts = spectrum.parts
    self.spectrum = spectrum
    // Where the reference itself has next to nothing, a gain would be chance.
    let least = 0.01 * parts.reduce(0) { $0 + $1.power } / parts.reduce(0) { $0 + $1.size }
    gains = parts.map { $0.power > least * $0.size ? $0.gain : 0 }
    shares = parts.map { $0.power > least * $0.size ? $0.share : 0 }
    surplus = Self.surplus(parts)
    likelihood = parts.reduce(0) { $0 + $1.likelihood }
  }

  /// What each bin of the product of two spectra is multiplied by so that its correlation becomes
  /// the logarithm of the likelihood of each lag: the weights of Hannan and Thomson, coherence over
  /// one less coherence, over the product's magnitude. (C. H. Knapp and G. C. Carter, "The
  /// generalized correlation method for estimation of time delay", IEEE Trans. Acoustics, Speech
  /// and Signal Processing 24, 1976; E. J. Hannan and P. J. Thomson, "Estimating group delay",
  /// Biometrika 60, 1973.)
  var weights: [Float] {
    let weights = zip(surplus, spectrum.parts).map { share, part -> Float in
      guard share > 0, part.scale > 0 else { return 0 }
      return Float(2 * share.squareRoot() / max(SpectrumPart.leastNoise, 1 - share) / part.scale)
    }
    return spectrum.places.map { weights[$0] }
  }

  /// The bins of the parts in which the recording is the reference more than by chance.
  var bins: [Bool] { spectrum.places.map { surplus[$0] > 0.003 } }

  /// What the shares have more than chance makes. A part alone shows that from six times chance on,
  /// which comes up once in four hundred; below, nine neighbours show it together.
  private static func surplus(_ parts: [SpectrumPart]) -> [Double] {
    parts.indices.map { index in
      let (share, chance) = (parts[index].share, parts[index].chance)
      guard parts[index].isTelling else { return 0 }
      if share > 6 * chance { return share - chance }
      let near = parts[max(0, index - 4)..<min(parts.count, index + 5)].filter(\.isTelling)
      let shares = near.reduce(0) { $0 + $1.share }
      let chances = near.reduce(0) { $0 + $1.chance }
      let count = min(parts.count, index + 5) - max(0, index - 4)
      return shares > 2.5 * chances ? (shares - chances) / Double(count) : 0
    }
  }
}
