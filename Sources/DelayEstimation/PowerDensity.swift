import AudioSpectra
import Glibc

/// The power at each bin of a spectrum, averaged over neighbouring bins.
struct PowerDensity {
  /// The mean power around each bin.
  let bins: [Double]
  /// The mean of all bins.
  let mean: Double

  /// Averages `spectrum`, that of a transform of `length` frames, around each bin over a 256th of
  /// its width, 94 Hz at 48 kHz: enough bins for their random differences to average out, and few
  /// enough to follow the shape of the spectrum.
  init(of spectrum: [ComplexFloat], length: Int) {
    let reach = length / 1024
    var sums = [0.0]
    sums.reserveCapacity(spectrum.count + 1)
    var sum = 0.0
    for bin in spectrum {
      sum += Double(bin.power)
      sums.append(sum)
    }
    let count = spectrum.count
    bins = (0..<count).map { bin in
      let first = max(0, bin - reach)
      let end = min(count, bin + reach + 1)
      return (sums[end] - sums[first]) / Double(end - first)
    }
    mean = count > 0 ? sum / Double(count) : 0
  }

  /// Returns the spectrum divided by the square root of this density, down to 40 dB below its mean.
  func whitened(_ spectrum: [ComplexFloat]) -> [ComplexFloat] {
    let floor = 1e-4 * mean
    guard floor > 0 else { return spectrum }
    return spectrum.indices.map { spectrum[$0] * Float(1 / (bins[$0] + floor).squareRoot()) }
  }

  /// Returns the spectrum within the band of this density. Bins 35 dB below the level of most of
  /// the power, for example the ends of a burst's spectrum, are suppressed.
  func limited(_ spectrum: [ComplexFloat]) -> [ComplexFloat] {
    let floor = 3e-4 * bins.reduce(0) { $0 + $1 * $1 } / max(1e-300, bins.reduce(0, +))
    guard floor > 0 else { return spectrum }
    return spectrum.indices.map { spectrum[$0] * Float(bins[$0] / (bins[$0] + floor)) }
  }
}

/// The delay of one arrival from the slope of the phase over frequency: a straight line through the
/// origin, fitted to the phases of a few dozen bands, weighted by their power.
struct PhaseSlope {
  /// The delay in frames.
  let delayFrames: Double
  /// The delay of the upper part of the spectrum less that of the lower part, in frames. Each part
  /// has half of the weight of the fit. 0 for a pure delay, but not for a bent phase.
  let bendFrames: Double

  private static let bandCount = 64

  /// Fits the phase of the arrival with this index, with the others removed.
  init(_ fit: ArrivalFit, of index: Int) {
    var cross = fit.cross
    for (other, arrival) in fit.arrivals.enumerated() where other != index {
      cross.subtract(gain: arrival.gain, at: arrival.delayFrames, energy: fit.energy)
    }
    // With the whole frames removed, no phase comes near half a turn.
    let whole = fit.arrivals[index].delayFrames.rounded()
    let sign = fit.arrivals[index].gain < 0 ? -1.0 : 1.0
    let count = cross.bins.count
    let unit = 2 * Double.pi / Double(cross.length)
    var real = [Double](repeating: 0, count: Self.bandCount)
    var imaginary = real
    var moment = real
    var energy = real
    for bin in 1..<max(2, count - 1) {
      let band = bin * Self.bandCount / count
      let angle = unit * Double(bin) * whole
      let product = cross.bins[bin]
      real[band] += Double(product.real) * cos(angle) - Double(product.imaginary) * sin(angle)
      imaginary[band] += Double(product.real) * sin(angle) + Double(product.imaginary) * cos(angle)
      moment[band] += unit * Double(bin) * Double(fit.energy[bin])
      energy[band] += Double(fit.energy[bin])
    }
    let bands = (0..<Self.bandCount).filter { energy[$0] > 0 }.map { band in
      let frequency = moment[band] / energy[band]
      let phase = atan2(sign * imaginary[band], sign * real[band])
      let strength = hypot(real[band], imaginary[band])
      return (slope: strength * frequency * phase, weight: strength * frequency * frequency)
    }
    func delay(_ bands: some Collection<(slope: Double, weight: Double)>) -> Double {
      let weight = bands.reduce(0) { $0 + $1.weight }
      return weight > 0 ? -bands.reduce(0) { $0 + $1.slope } / weight : 0
    }
    delayFrames = whole + delay(bands)
    let half = bands.reduce(0) { $0 + $1.weight } / 2
    var sum = 0.0
    let split =
      bands.firstIndex { band in
        sum += band.weight
        return sum > half
      } ?? 0
    bendFrames = delay(bands[split...]) - delay(bands[..<split])
  }
}
