import AudioSpectra
import Glibc

/// A recording beside a reference that comes at a given delay, in one part of the spectrum.
struct SpectrumPart {
  /// The real part of the sum of the products of both spectra, the delay taken out: what is in
  /// phase.
  fileprivate var inPhase = 0.0
  /// The imaginary part of that sum.
  fileprivate var quadrature = 0.0
  /// The power of the reference.
  fileprivate(set) var power = 0.0
  /// The power of the recording.
  fileprivate var recordedPower = 0.0
  /// The sum of the squared magnitudes of the products.
  fileprivate var squaredProducts = 0.0
  /// Bins in the part.
  fileprivate(set) var size = 0.0
  /// The square that noise as loud as the whole recording would make of the sum of the products.
  fileprivate var chanceSquare = 0.0

  /// Noise this far below the signal (27 dB) is as good as none: beyond, what is left unexplained
  /// is bent rather than noisy, and every part of the spectrum is to have its say.
  static let leastNoise = 0.002

  /// What the reference was multiplied by, without its sign.
  var gain: Double { power > 0 ? hypot(inPhase, quadrature) / power : 0 }
  private var whole: Double { power * recordedPower }
  /// The coherence: how much of what was recorded is the reference, from 0 to 1.
  var share: Double {
    whole > 0 ? min(1, (inPhase * inPhase + quadrature * quadrature) / whole) : 0
  }
  /// The coherence that chance makes.
  var chance: Double { whole > 0 ? min(1, squaredProducts / whole) : 1 }
  /// Whether there is enough to tell coherence from chance.
  var isTelling: Bool { chance < 0.5 }
  /// How much likelier the recording is with the reference in it than without: a natural logarithm,
  /// less what chance adds.
  var likelihood: Double {
    isTelling ? (1 - 1 / chance) * log(max(1e-9, 1 - share)) - 1 : 0
  }
  /// How much likelier the recording is with the reference in it than with noise alone, whose
  /// density is that of the recording around each bin, so that the lines of a spectrum raise their
  /// own noise: a natural logarithm. No signal counts as more than 27 dB above the noise.
  fileprivate var prominence: Double {
    guard chanceSquare > 0 else { return 0 }
    let share = (inPhase * inPhase + quadrature * quadrature) / (chanceSquare * size)
    return -size * log(max(Self.leastNoise, 1 - share))
  }
  /// The root of the mean power of the recording times that of the reference, at a bin.
  var scale: Double { size > 0 ? whole.squareRoot() / size : 0 }

  fileprivate static func + (one: SpectrumPart, other: SpectrumPart) -> SpectrumPart {
    SpectrumPart(
      inPhase: one.inPhase + other.inPhase, quadrature: one.quadrature + other.quadrature,
      power: one.power + other.power, recordedPower: one.recordedPower + other.recordedPower,
      squaredProducts: one.squaredProducts + other.squaredProducts, size: one.size + other.size,
      chanceSquare: one.chanceSquare + other.chanceSquare)
  }
}

/// A spectrum cut into parts.
struct SpectrumParts {
  let parts: [SpectrumPart]
  /// The index of the part to which each bin belongs.
  let places: [Int]

  private init(parts: [SpectrumPart], places: [Int]) {
    (self.parts, self.places) = (parts, places)
  }

  /// `count` parts of as many bins each, as in `Coherence`.
  init(
    cross: [ComplexFloat], power: [Float], recordedPower: [Float], length: Int, delay: Double,
    count: Int
  ) {
    let bins = cross.count
    let places = (0..<bins).map { min(count - 1, $0 * count / bins) }
    var parts = [SpectrumPart](repeating: SpectrumPart(), count: count)
    let step = 2 * Double.pi * delay / Double(length)
    let (turnReal, turnImaginary) = (cos(step), sin(step))
    var (real, imaginary) = (1.0, 0.0)
    for bin in 1..<max(2, bins - 1) {
      let part = places[bin]
      let nextReal = real * turnReal - imaginary * turnImaginary
      imaginary = real * turnImaginary + imaginary * turnReal
      real = nextReal
      let product = (Double(cross[bin].real), Double(cross[bin].imaginary))
      parts[part].inPhase += product.0 * real - product.1 * imaginary
      parts[part].quadrature += product.0 * imaginary + product.1 * real
      parts[part].power += Double(power[bin])
      parts[part].recordedPower += Double(recordedPower[bin])
      parts[part].squaredProducts += product.0 * product.0 + product.1 * product.1
      parts[part].size += 1
    }
    self.init(parts: parts, places: places)
  }

  /// The same in fewer parts: the whole spectrum halved as long as the reference makes a part
  /// likelier by `likelihood`, a natural logarithm, so that a band is told from its neighbours as
  /// finely as the noise allows. `recordedDensity` is the power that was recorded around each bin.
  func joined(likelihood: Double, power: [Float], recordedDensity: PowerDensity) -> SpectrumParts {
    var fine = parts
    for (bin, place) in places.enumerated() {
      fine[place].chanceSquare += Double(power[bin]) * recordedDensity.bins[bin]
    }
    var joined: [SpectrumPart] = []
    var owners: [Int] = []
    // Halves to be looked at, the lowest last.
    var open = [0..<parts.count]
    while let range = open.popLast() {
      let sum = fine[range].reduce(SpectrumPart(), +)
      if range.count > 1, range.count > parts.count / 4 || sum.prominence > likelihood {
        let middle = range.lowerBound + range.count / 2
        open += [middle..<range.upperBound, range.lowerBound..<middle]
      } else {
        joined.append(sum)
        owners += Array(repeating: joined.count - 1, count: range.count)
      }
    }
    return SpectrumParts(parts: joined, places: places.map { owners[$0] })
  }
}
