import AudioSpectra
import Glibc

/// The delay of one arrival by the slope of the phase over frequency: a straight line through the
/// origin, fitted to the phases of a few dozen bands, each counting by its power.
struct PhaseSlope {
  /// The delay in frames.
  let delayFrames: Double

  private static let bandCount = 64

  /// That of the arrival with this index, the others taken out.
  init(_ fit: ArrivalFit, of index: Int) {
    var cross = fit.cross
    for (other, arrival) in fit.arrivals.enumerated() where other != index {
      cross.subtract(gain: arrival.gain, at: arrival.delayFrames, energy: fit.energy)
    }
    // Within half a frame no phase comes near half a turn.
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
    var slope = 0.0
    var weight = 0.0
    for band in 0..<Self.bandCount where energy[band] > 0 {
      let frequency = moment[band] / energy[band]
      let phase = atan2(sign * imaginary[band], sign * real[band])
      let strength = hypot(real[band], imaginary[band])
      slope += strength * frequency * phase
      weight += strength * frequency * frequency
    }
    delayFrames = weight > 0 ? whole - slope / weight : whole
  }
}
