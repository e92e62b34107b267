import AudioSpectra
import Glibc

/// A recording and a reference with a given delay, in one part of the spectrum.
struct SpectrumPart {
  /// The real part of the sum of the cross-spectrum with the delay removed: the in-phase component.
  fileprivate var inPhase = 0.0
  /// The imaginary part of that sum.
  fileprivate var quadrature = 0.0
  /// The power of the reference.
  fileprivate(set) var power = 0.0
  /// The power of the recording.
  fileprivate var recordedPower = 0.0
  /// The sum of the squared magnitudes of the cross-spectrum.
  fileprivate var squaredProducts = 0.0
  /// The number of bins in the part.
  fileprivate(set) var size = 0.0
  /// The expected square of the sum of the cross-spectrum for noise as loud as the whole recording.
  fileprivate var chanceSquare = 0.0

  /// The least noise power relative to the signal (-27 dB). Below that, the residual is distortion
  /// rather than noise, and every part of the spectrum should contribute.
  static let minimumNoise = 0.002

  /// The magnitude of the gain of the reference.
  var gain: Double { power > 0 ? hypot(inPhase, quadrature) / power : 0 }
  private var whole: Double { power * recordedPower }
  /// The coherence: the fraction of the recording that is the reference, from 0 to 1.
  var share: Double {
    whole > 0 ? min(1, (inPhase * inPhase + quadrature * quadrature) / whole) : 0
  }
  /// The coherence that chance causes.
  var chance: Double { whole > 0 ? min(1, squaredProducts / whole) : 1 }
  /// Whether there are enough bins to distinguish coherence from chance.
  var isInformative: Bool { chance < 0.5 }
  /// The natural logarithm of the likelihood ratio of the recording with and without the reference,
  /// less the contribution of chance.
  var likelihood: Double {
    isInformative ? (1 - 1 / chance) * log(max(1e-9, 1 - share)) - 1 : 0
  }
  /// The natural logarithm of the likelihood ratio of the recording with the reference and as noise
  /// alone. The density of the noise is that of the recording around each bin, so that spectral
  /// lines raise their own noise. No signal counts as more than 27 dB above the noise.
  fileprivate var prominence: Double {
    guard chanceSquare > 0 else { return 0 }
    let share = (inPhase * inPhase + quadrature * quadrature) / (chanceSquare * size)
    return -size * log(max(Self.minimumNoise, 1 - share))
  }
  /// The square root of the product of the mean powers of recording and reference per bin.
  var scale: Double { size > 0 ? whole.squareRoot() / size : 0 }

  fileprivate static func + (one: SpectrumPart, other: SpectrumPart) -> SpectrumPart {
    SpectrumPart(
      inPhase: one.inPhase + other.inPhase, quadrature: one.quadrature + other.quadrature,
      power: one.power + other.power, recordedPower: one.recordedPower + other.recordedPower,
      squaredProducts: one.squaredProducts + other.squaredProducts, size: one.size + other.size,
      chanceSquare: one.chanceSquare + other.chanceSquare)
  }
}

/// A spectrum divided into parts.
struct SpectrumParts {
  let parts: [SpectrumPart]
  /// The index of the part to which each bin belongs.
  let places: [Int]

  private init(parts: [SpectrumPart], places: [Int]) {
    (self.parts, self.places) = (parts, places)
  }

  /// Divides a spectrum into `count` parts of equal numbers of bins, as in `Coherence`.
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

  /// Returns the same spectrum in fewer parts. The spectrum is halved recursively as long as the
  /// reference increases the likelihood of a part by `likelihood`, a natural logarithm, so the
  /// noise determines the frequency resolution. `recordedDensity` is the recorded power around each
  /// bin.
  func joined(likelihood: Double, power: [Float], recordedDensity: PowerDensity) -> SpectrumParts {
    var fine = parts
    for (bin, place) in places.enumerated() {
      fine[place].chanceSquare += Double(power[bin]) * recordedDensity.bins[bin]
    }
    var joined: [SpectrumPart] = []
    var owners: [Int] = []
    // The ranges still to be examined, the lowest last.
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
