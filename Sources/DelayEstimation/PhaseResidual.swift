import AudioSpectra
import Glibc

/// The phase of one arrival over frequency, band by band, and what it says about its delay: whether
/// other weights of the bands give another one, and how far an echo that is too near to be told apart
/// may have moved it.
struct PhaseResidual {
  /// The delays in frames that the plain correlation, each band counting by its power, and the phase
  /// transform, each bin counting the same, would give, less that of the fit.
  let otherDelays: [Double]
  /// The largest error in frames that an unseen echo may have made: of all echoes that would leave the
  /// phase as straight as it is.
  let hiddenEchoFrames: Double

  private struct Band {
    /// Mean angular frequency in radians a frame.
    var frequency: Double
    /// The phase less that of the delay, in radians.
    var phase: Double
    /// One over the variance of the phase.
    var information: Double
    /// Power of the product of both spectra, without weights.
    var strength: Double
    /// Bins.
    var size: Double
  }

  /// That of the arrival with this index, the others taken out.
  init(_ fit: ArrivalFit, of index: Int, power: [Float]) {
    var cross = fit.cross
    for (other, arrival) in fit.arrivals.enumerated() where other != index {
      cross.subtract(gain: arrival.gain, at: arrival.delayFrames, energy: fit.energy)
    }
    let bands = Self.bands(cross, fit, fit.arrivals[index], power)
    func delay(_ weight: (Band) -> Double) -> Double {
      let whole = bands.reduce(0) { $0 + weight($1) * $1.frequency * $1.frequency }
      let sum = bands.reduce(0) { $0 + weight($1) * $1.frequency * $1.phase }
      return whole > 0 ? -sum / whole : 0
    }
    let own = delay(\.information)
    otherDelays = [delay(\.strength) - own, delay(\.size) - own]
    hiddenEchoFrames = Self.hiddenEcho(bands, lobe: fit.lobe)
  }

  private static func bands(
    _ cross: CorrelationFunction, _ fit: ArrivalFit, _ arrival: Arrival, _ power: [Float]
  ) -> [Band] {
    // Of equal energy, so that a narrow band has as many as a wide one.
    let count = cross.bins.count
    let whole = fit.energy.reduce(0.0) { $0 + Double($1) }
    guard whole > 0 else { return [] }
    let step = 2 * Double.pi / Double(cross.length)
    let turn = (real: cos(step * arrival.delayFrames), imaginary: sin(step * arrival.delayFrames))
    var (real, imaginary) = (arrival.gain < 0 ? -1.0 : 1.0, 0.0)
    var bands: [Band] = []
    var sum = (along: 0.0, across: 0.0, energy: 0.0, moment: 0.0, strength: 0.0, size: 0.0)
    let widest = Double(count) / 64
    for bin in 1..<max(2, count - 1) {
      let nextReal = real * turn.real - imaginary * turn.imaginary
      imaginary = real * turn.imaginary + imaginary * turn.real
      real = nextReal
      let energy = Double(fit.energy[bin])
      guard energy > 0 else { continue }
      let product = (Double(cross.bins[bin].real), Double(cross.bins[bin].imaginary))
      sum.along += product.0 * real - product.1 * imaginary
      sum.across += product.0 * imaginary + product.1 * real
      sum.energy += energy
      sum.moment += energy * step * Double(bin)
      sum.strength += Double(power[bin])
      sum.size += 1
      if sum.energy > whole / 64 || sum.size > widest {
        bands.append(
          Band(
            frequency: sum.moment / sum.energy, phase: atan2(sum.across, sum.along),
            information: 2 * arrival.gain * arrival.gain * sum.energy / fit.weightScale,
            strength: sum.strength, size: sum.size))
        sum = (0, 0, 0, 0, 0, 0)
      }
    }
    return bands
  }

  /// Tries echoes of every delay within a few widths of the peak and of gains up to 0.7 on either side of
  /// zero. One that is there bends the phase of the band, which a delay does not.
  private static func hiddenEcho(_ bands: [Band], lobe: Double) -> Double {
    // Of so narrow a band no line can be told from a curve: anywhere within its peak.
    guard bands.count > 2 else { return max(1, lobe) }
    let (slope, straight) = line(bands, bands.map(\.phase))
    // Where the phase is bent more than by noise, by a filter perhaps, so much more is an echo's to hide.
    let unit = max(1, straight / Double(bands.count - 1))
    var worst = 0.0
    var delay = 1.0
    while delay < min(1000, max(6, 1.5 * lobe)) {
      for level in -7...7 where level != 0 {
        let gain = Double(level) / 10
        let phases = bands.map { band in
          let angle = band.frequency * delay
          return atan2(-gain * sin(angle), 1 + gain * cos(angle))
        }
        let (bias, _) = line(bands, phases)
        guard abs(bias) > worst else { continue }
        let (_, left) = line(bands, zip(bands, phases).map { $0.phase - $1 })
        if left < straight + 9 * unit { worst = abs(bias) }
      }
      delay *= 1.15
    }
    return max(worst, abs(slope))
  }

  /// The slope in frames of the straight line through the origin that fits `phases` best, and the squares it
  /// leaves, in variances.
  private static func line(_ bands: [Band], _ phases: [Double]) -> (slope: Double, left: Double) {
    var (whole, sum, squares) = (0.0, 0.0, 0.0)
    for (band, phase) in zip(bands, phases) {
      whole += band.information * band.frequency * band.frequency
      sum += band.information * band.frequency * phase
      squares += band.information * phase * phase
    }
    guard whole > 0 else { return (0, 0) }
    return (sum / whole, squares - sum * sum / whole)
  }
}
