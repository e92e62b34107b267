import AudioSpectra
import Glibc

/// The phase of one arrival over frequency, by bands, and its consequences for the delay: whether
/// other weights of the bands give another delay, and how far an echo that is too near to be
/// separated may have moved it.
struct PhaseResidual {
  /// The delays in frames by other weights, less that of the fit: by the plain correlation, which
  /// weights each band by its power, and by the phase transform, which weights all bins equally.
  let otherDelays: [Double]
  /// The echo that may have moved the delay undetected.
  let hiddenEcho: HiddenEcho

  /// Computes the residual of the arrival with this index, with the others removed.
  init(_ fit: ArrivalFit, of index: Int, power: [Float]) {
    let cross = fit.cross
    let bands = Self.bands(cross, fit, index, power)
    func delay(_ weight: (PhaseBand) -> Double) -> Double {
      let whole = bands.reduce(0) { $0 + weight($1) * $1.frequency * $1.frequency }
      let sum = bands.reduce(0) { $0 + weight($1) * $1.frequency * $1.phase }
      return whole > 0 ? -sum / whole : 0
    }
    let own = delay(\.information)
    otherDelays = [delay(\.strength) - own, delay(\.size) - own]
    hiddenEcho = HiddenEcho(bands, lobe: fit.lobe)
  }

  private static func bands(
    _ cross: CorrelationFunction, _ fit: ArrivalFit, _ index: Int, _ power: [Float]
  ) -> [PhaseBand] {
    // Bands of equal energy, so that a narrow spectrum has as many as a wide one.
    let count = cross.bins.count
    let whole = fit.energy.reduce(0.0) { $0 + Double($1) }
    guard whole > 0 else { return [] }
    let arrival = fit.arrivals[index]
    let step = 2 * Double.pi / Double(cross.length)
    var echoes = fit.arrivals.enumerated().filter { $0.offset != index }.map { other in
      let angle = step * (other.element.delayFrames - arrival.delayFrames)
      return (
        real: other.element.gain / arrival.gain, imaginary: 0.0, cosine: cos(angle),
        sine: -sin(angle)
      )
    }
    let turn = (real: cos(step * arrival.delayFrames), imaginary: sin(step * arrival.delayFrames))
    var (real, imaginary) = (arrival.gain < 0 ? -1.0 : 1.0, 0.0)
    var bands: [PhaseBand] = []
    var sum = (along: 0.0, across: 0.0, energy: 0.0, moment: 0.0, strength: 0.0, size: 0.0)
    let widest = Double(count) / 64
    for bin in 1..<max(2, count - 1) {
      let nextReal = real * turn.real - imaginary * turn.imaginary
      imaginary = real * turn.imaginary + imaginary * turn.real
      real = nextReal
      var (pathsReal, pathsImaginary) = (1.0, 0.0)
      for echo in echoes.indices {
        let next =
          echoes[echo].real * echoes[echo].cosine - echoes[echo].imaginary * echoes[echo].sine
        echoes[echo].imaginary =
          echoes[echo].real * echoes[echo].sine + echoes[echo].imaginary * echoes[echo].cosine
        echoes[echo].real = next
        pathsReal += next
        pathsImaginary += echoes[echo].imaginary
      }
      let energy =
        Double(fit.energy[bin]) * (pathsReal * pathsReal + pathsImaginary * pathsImaginary)
      guard energy > 0 else { continue }
      let plain = (Double(cross.bins[bin].real), Double(cross.bins[bin].imaginary))
      let product = (
        plain.0 * pathsReal + plain.1 * pathsImaginary,
        plain.1 * pathsReal - plain.0 * pathsImaginary
      )
      sum.along += product.0 * real - product.1 * imaginary
      sum.across += product.0 * imaginary + product.1 * real
      sum.energy += energy
      sum.moment += energy * step * Double(bin)
      sum.strength += Double(power[bin])
      sum.size += 1
      if sum.energy > whole / 64 || sum.size > widest {
        bands.append(
          PhaseBand(
            frequency: sum.moment / sum.energy, phase: atan2(sum.across, sum.along),
            level: log(max(1e-30, hypot(sum.across, sum.along)) / sum.energy),
            information: 2 * arrival.gain * arrival.gain * sum.energy / fit.weightScale,
            strength: sum.strength, size: sum.size))
        sum = (0, 0, 0, 0, 0, 0)
      }
    }
    return bands
  }
}
