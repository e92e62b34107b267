import AudioSpectra

/// Coherence of a recording with a reference at a given delay, for each part of the spectrum.
///
/// The coherence of a part is the squared magnitude of the mean cross-spectrum over the product of
/// the mean powers. Chance alone makes it 1 / n if n bins share the power evenly, and 1 if a single
/// bin has all the power: a tone contains no information about coherence.
struct Coherence {
  /// The magnitude of the gain of the reference in each part.
  let gains: [Double]
  /// The fraction of the recorded power in each part that is the reference, from 0 to 1.
  let shares: [Double]
  /// The same fraction without the contribution of chance.
  let surplus: [Double]
  /// The natural logarithm of the likelihood ratio of the recording with and without the reference,
  /// less the contribution of chance.
  let likelihood: Double
  private let spectrum: SpectrumParts

  /// Computes the coherence from `cross`, the recording's spectrum times the conjugate of the
  /// reference's. `power` and `recordedPower` are the powers of reference and recording at each
  /// bin. `delay` is in frames. There are up to 512 parts, of at least 16 bins, so that the
  /// contribution of chance to a part is small.
  init(
    cross: [ComplexFloat], power: [Float], recordedPower: [Float], length: Int, delay: Double
  ) {
    let spectrum = SpectrumParts(
      cross: cross, power: power, recordedPower: recordedPower, length: length, delay: delay,
      count: max(1, min(512, cross.count / 16)))
    self.init(spectrum)
  }

  /// Computes the coherence of the parts of a spectrum.
  init(_ spectrum: SpectrumParts) {
    let parts = spectrum.parts
    self.spectrum = spectrum
    // Where the reference has almost no power, a gain would be random.
    let minimum = 0.01 * parts.reduce(0) { $0 + $1.power } / parts.reduce(0) { $0 + $1.size }
    gains = parts.map { $0.power > minimum * $0.size ? $0.gain : 0 }
    shares = parts.map { $0.power > minimum * $0.size ? $0.share : 0 }
    surplus = Self.surplus(parts)
    likelihood = parts.reduce(0) { $0 + $1.likelihood }
  }

  /// The weights of the bins of the cross-spectrum with which its correlation is the logarithm of
  /// the likelihood of each lag: the weights of Hannan and Thomson, coherence over one less
  /// coherence, over the magnitude of the cross-spectrum. (C. H. Knapp and G. C. Carter, "The
  /// generalized correlation method for estimation of time delay", IEEE Trans. Acoustics, Speech
  /// and Signal Processing 24, 1976; E. J. Hannan and P. J. Thomson, "Estimating group delay",
  /// Biometrika 60, 1973.)
  var weights: [Float] {
    let weights = zip(surplus, spectrum.parts).map { share, part -> Float in
      guard share > 0, part.scale > 0 else { return 0 }
      return Float(2 * share.squareRoot() / max(SpectrumPart.minimumNoise, 1 - share) / part.scale)
    }
    return spectrum.places.map { weights[$0] }
  }

  /// Whether each bin is in a part in which the recording contains the reference more than by
  /// chance.
  var bins: [Bool] { spectrum.places.map { surplus[$0] > 0.003 } }

  /// Returns the shares less the contribution of chance. A single part is significant above six
  /// times chance, which occurs by chance once in 400. Below that, nine neighbours must be
  /// significant together.
  private static func surplus(_ parts: [SpectrumPart]) -> [Double] {
    parts.indices.map { index in
      let (share, chance) = (parts[index].share, parts[index].chance)
      guard parts[index].isInformative else { return 0 }
      if share > 6 * chance { return share - chance }
      let near = parts[max(0, index - 4)..<min(parts.count, index + 5)].filter(\.isInformative)
      let shares = near.reduce(0) { $0 + $1.share }
      let chances = near.reduce(0) { $0 + $1.chance }
      let count = min(parts.count, index + 5) - max(0, index - 4)
      return shares > 2.5 * chances ? (shares - chances) / Double(count) : 0
    }
  }
}
