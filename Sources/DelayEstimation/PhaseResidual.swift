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

  /// The least number of bands of a spectrum that is received evenly.
  private static let bandCount = 64.0

  /// Returns the bands of equal energy, so that a narrow spectrum has as many as a wide one, with
  /// the phases of the arrival with this index.
  private static func bands(
    _ cross: CorrelationFunction, _ fit: ArrivalFit, _ index: Int, _ power: [Float]
  ) -> [PhaseBand] {
    let count = cross.bins.count
    let whole = fit.energy.reduce(0.0) { $0 + Double($1) }
    guard whole > 0 else { return [] }
    let arrival = fit.arrivals[index]
    let step = 2 * Double.pi / Double(cross.length)
    var own = Phasor(arrival.gain < 0 ? -1 : 1, turning: step * arrival.delayFrames)
    var echoes = fit.arrivals.indices.filter { $0 != index }.map { other in
      let echo = fit.arrivals[other]
      return Phasor(
        echo.gain / arrival.gain, turning: step * (arrival.delayFrames - echo.delayFrames))
    }
    var bands: [PhaseBand] = []
    var sums = BandSums()
    for bin in 1..<max(2, count - 1) {
      own.turn()
      // The spectrum of all arrivals, relative to that of this one.
      var paths = (real: 1.0, imaginary: 0.0)
      for echo in echoes.indices {
        echoes[echo].turn()
        paths.real += echoes[echo].real
        paths.imaginary += echoes[echo].imaginary
      }
      let energy =
        Double(fit.energy[bin]) * (paths.real * paths.real + paths.imaginary * paths.imaginary)
      guard energy > 0 else { continue }
      let plain = (real: Double(cross.bins[bin].real), imaginary: Double(cross.bins[bin].imaginary))
      sums.add(
        (
          real: plain.real * paths.real + plain.imaginary * paths.imaginary,
          imaginary: plain.imaginary * paths.real - plain.real * paths.imaginary
        ), turnedBy: own)
      sums.energy += energy
      sums.moment += energy * step * Double(bin)
      sums.strength += Double(power[bin])
      sums.size += 1
      if sums.energy > whole / bandCount || sums.size > Double(count) / bandCount {
        bands.append(sums.band(gain: arrival.gain, weightScale: fit.weightScale))
        sums = BandSums()
      }
    }
    return bands
  }
}

/// A complex number that turns by the same angle at each step.
private struct Phasor {
  private(set) var real: Double
  private(set) var imaginary = 0.0
  private let cosine: Double
  private let sine: Double

  /// Creates the real number `magnitude`, which turns by `angle` radians a step.
  init(_ magnitude: Double, turning angle: Double) {
    real = magnitude
    cosine = cos(angle)
    sine = sin(angle)
  }

  mutating func turn() {
    let next = real * cosine - imaginary * sine
    imaginary = real * sine + imaginary * cosine
    real = next
  }
}

/// The sums over the bins of one band.
private struct BandSums {
  /// The cross-spectrum along and across the direction that the delay of the arrival explains.
  private var along = 0.0
  private var across = 0.0
  /// The energy of the played signal, weighted by the inverse of the noise.
  var energy = 0.0
  /// The angular frequencies in radians per frame, weighted by the energy.
  var moment = 0.0
  var strength = 0.0
  var size = 0.0

  /// Adds a bin of the cross-spectrum, without the delay that `phasor` explains.
  mutating func add(_ product: (real: Double, imaginary: Double), turnedBy phasor: Phasor) {
    along += product.real * phasor.real - product.imaginary * phasor.imaginary
    across += product.real * phasor.imaginary + product.imaginary * phasor.real
  }

  /// Returns the band of an arrival with this gain in a fit with weights of this scale.
  func band(gain: Double, weightScale: Double) -> PhaseBand {
    PhaseBand(
      frequency: moment / energy, phase: atan2(across, along),
      level: log(max(1e-30, hypot(across, along)) / energy),
      information: 2 * gain * gain * energy / weightScale, strength: strength, size: size)
  }
}
