import Glibc

/// The power of stationary noise in each bin, estimated also while there is speech in other bins.
///
/// The power is averaged slowly, weighted by the probability that it is not speech. This
/// probability depends on how far a bin, smoothed with its neighbours, and all bins of speech
/// together exceed the noise. If that fails, because the noise has become louder or speech was
/// counted as noise, the minimum power of the last seconds bounds the estimate: minima-controlled
/// recursive averaging (Cohen, "Noise Spectrum Estimation in Adverse Environments: Improved Minima
/// Controlled Recursive Averaging", 2003).
///
/// The initial noise is the geometric mean over the bins of a third of an octave, which depends
/// more on the valleys between the harmonics of a voice than on the harmonics. Noise is therefore
/// reduced from the first 100 ms on, even if somebody speaks.
struct NoiseEstimate {
  /// The largest power per bin of a silent block, far below the rounding of 16 bits.
  private static let silence: Float = 1e-11
  /// The number of initial blocks of which only the last counts: their spectra include the time
  /// before the first samples.
  private static let fillingBlocks = 4
  /// The initial time during which the whole signal counts as noise, in seconds.
  private static let startSeconds = 0.16
  /// The number of bins to each side that share the initial noise: as a fraction of the bin's
  /// index, and at most.
  private static let (startShare, startBins) = (0.3, 24)
  /// The largest increase of the initial noise by one block, as the natural logarithm of a ratio.
  private static let startStep: Float = 1
  /// The ratio of the mean of a noise's power to its geometric mean: exp of Euler's constant.
  private static let meanOverGeometric: Float = 1.781
  /// The time constants of powers for speech detection and for noise, in seconds to a ratio of 1 /
  /// e.
  private static let (speechSeconds, noiseSeconds) = (0.03, 0.208)
  /// The ratios of smoothed power to noise, in a bin and in all bins of speech, at which the
  /// probability of speech is 1/2.
  private static let (binRatio, speechRatio): (Float, Float) = (2, 1.25)
  /// The range of the bins of speech, in hertz, and the largest ratio that one of them contributes.
  private static let (lowest, highest, maximum) = (100.0, 5000.0, Float(4))
  /// The fraction of the noise that is not learned while there is speech in other bins.
  private static let caution: Float = 0.95
  /// The length in seconds of a stretch. The minimum power is that of four stretches.
  private static let stretchSeconds = 0.43
  /// The bounds of the noise relative to the minimum power.
  private static let (lowerMinimumFactor, upperMinimumFactor): (Float, Float) = (1.2, 5)

  /// The number of neighbours on each side with which a bin is averaged.
  private static let reach = 2

  /// The power of the noise in each bin.
  private(set) var power: [Float]
  /// The mean ratio of power to noise in the bins of speech of the last block, each at most 4:
  /// about 1 without speech, and 0 at the start and in silence.
  private(set) var presence: Float = 0
  private let startBlocks: Int
  private let speech: Range<Int>
  private let (speechMemory, noiseStep): (Float, Float)
  private let stretchBlocks: Int
  /// The number of blocks processed at the start, and in this stretch.
  private var (started, stretched) = (0, 0)
  private var logarithms: [Float]
  /// The power of the last block's bins, each averaged with its neighbours.
  private var local: [Float]
  private var smoothed: [Float]
  /// The minimum smoothed power of each of the last stretches, the newest of which is not complete,
  /// and of all of them.
  private var minima: [[Float]]
  private var minimum: [Float]

  init(blockSeconds: Double, binHertz: Double, binCount: Int) {
    startBlocks = Self.fillingBlocks + Int(rounding: Self.startSeconds / blockSeconds)
    let last = min(binCount, Int(clamping: Self.highest / binHertz))
    speech = min(last - 1, Int(clamping: Self.lowest / binHertz))..<last
    speechMemory = Float(exp(-blockSeconds / Self.speechSeconds))
    noiseStep = Float(1 - exp(-blockSeconds / Self.noiseSeconds))
    stretchBlocks = max(1, Int(rounding: Self.stretchSeconds / blockSeconds))
    power = Array(repeating: 0, count: binCount)
    logarithms = power
    local = power
    smoothed = power
    minimum = power
    minima = Array(repeating: power, count: 4)
  }

  /// Adds the power of a block's bins, none of which may be zero.
  mutating func follow(_ total: [Float]) {
    // A silent block, as before a device starts, contains no information about its noise.
    presence = 0
    guard total.contains(where: { $0 > Self.silence }) else { return }
    if started < startBlocks { return start(total) }
    smooth(total)
    presence = ratio(of: local)
    let elsewhere = 1 - Self.caution * Self.likelihood(ratio(of: smoothed), Self.speechRatio)
    for bin in 0..<power.count {
      let ratio = smoothed[bin] / power[bin]
      let isNoise = (1 - Self.likelihood(ratio, Self.binRatio)) * elsewhere
      power[bin] += noiseStep * isNoise * (local[bin] - power[bin])
      let minimum = minimum.mean(around: bin, reach: Self.reach)
      power[bin] = max(
        Self.lowerMinimumFactor * minimum, min(Self.upperMinimumFactor * minimum, power[bin]))
    }
  }

  private mutating func start(_ total: [Float]) {
    let count = max(1, started + 2 - Self.fillingBlocks)
    var sums: [Float] = [0]
    for value in total { sums.append(sums[sums.count - 1] + log(value)) }
    for bin in 0..<power.count {
      let reach = max(2, min(Self.startBins, Int(clamping: Self.startShare * Double(bin))))
      let (first, end) = (max(0, bin - reach), min(power.count, bin + reach + 1))
      let now = (sums[end] - sums[first]) / Float(end - first)
      let before = count > 1 ? logarithms[bin] : now
      logarithms[bin] = before + (min(now, before + Self.startStep) - before) / Float(count)
      power[bin] = Self.meanOverGeometric * exp(logarithms[bin])
    }
    started += 1
    smoothed = power
    minimum = power
    for stretch in minima.indices { minima[stretch] = power }
  }

  /// Smooths powers over bins and time, and updates the minimum.
  private mutating func smooth(_ total: [Float]) {
    stretched += 1
    if stretched == stretchBlocks {
      stretched = 0
      minima.removeFirst()
      minima.append(smoothed)
    }
    for bin in 0..<power.count {
      local[bin] = total.mean(around: bin, reach: Self.reach)
      smoothed[bin] = local[bin] + speechMemory * (smoothed[bin] - local[bin])
      minima[3][bin] = min(minima[3][bin], smoothed[bin])
      minimum[bin] = min(min(minima[0][bin], minima[1][bin]), min(minima[2][bin], minima[3][bin]))
    }
  }

  /// Returns the mean ratio to the noise in the bins of speech, each at most `maximum`.
  private func ratio(of powers: [Float]) -> Float {
    var sum: Float = 0
    for bin in speech { sum += min(Self.maximum, powers[bin] / power[bin]) }
    return sum / Float(speech.count)
  }

  /// Returns the probability that a ratio is speech: 1/2 at `even`, with a steep rise around it.
  private static func likelihood(_ ratio: Float, _ even: Float) -> Float {
    let square = (even / ratio) * (even / ratio)
    return 1 / (1 + square * square * square)
  }
}
