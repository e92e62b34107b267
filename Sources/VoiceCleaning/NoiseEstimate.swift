import Glibc

/// The power of steady noise in each bin, learned while there is speech in others.
///
/// What is not speech is averaged slowly, as much of it as is likely to be none: by how far a bin,
/// smoothed with its neighbours, and all bins of speech together exceed the noise. Where that
/// fails, because noise has become louder or speech was taken for it, the least power of the last
/// seconds bounds it: minimum-controlled recursive averaging (Cohen, "Noise Spectrum Estimation in
/// Adverse Environments: Improved Minima Controlled Recursive Averaging", 2003).
///
/// At first, noise is what the bins of a third of an octave have in common, as their geometric
/// mean, which is that of the valleys between a voice's harmonics more than of those: noise is
/// lowered from the first tenth of a second on, although somebody speaks.
struct NoiseEstimate {
  /// What a block without sound has at most in a bin, far below the rounding of 16 bits.
  private static let silence: Float = 1e-11
  /// Blocks at first of which only the last counts: spectra look back before the first sound.
  private static let fillingBlocks = 4
  /// How long all sound is taken for noise, at first, in seconds.
  private static let startSeconds = 0.16
  /// Bins to each side, over a bin's number, and at most, that begin with the same noise.
  private static let (startShare, startBins) = (0.3, 24)
  /// What a block can add to the beginning, as the natural logarithm of a ratio.
  private static let startStep: Float = 1
  /// The mean of a noise's power over its geometric mean: exp of Euler's constant.
  private static let meanOverGeometric: Float = 1.781
  /// How long powers are smoothed to tell speech, and averaged for noise, in seconds to 1 / e.
  private static let (speechSeconds, noiseSeconds) = (0.03, 0.208)
  /// Smoothed power over noise, in a bin and in all bins of speech, that is as likely as not
  /// speech.
  private static let (binRatio, speechRatio): (Float, Float) = (2, 1.25)
  /// Bins of speech, in hertz, and what one of them counts at most.
  private static let (lowest, highest, most) = (100.0, 5000.0, Float(4))
  /// How much of noise is not learned while there is speech elsewhere.
  private static let caution: Float = 0.95
  /// The least power is that of four stretches so long, in seconds.
  private static let stretchSeconds = 0.43
  /// Bounds of noise over the least power.
  private static let (leastOverLeast, mostOverLeast): (Float, Float) = (1.2, 5)

  /// Neighbours on each side that a bin is averaged with.
  private static let reach = 2

  /// The noise's power in each bin.
  private(set) var power: [Float]
  private let startBlocks: Int
  private let speech: Range<Int>
  private let (speechMemory, noiseStep): (Float, Float)
  private let stretchBlocks: Int
  /// Blocks taken in at first, and in this stretch.
  private var (started, stretched) = (0, 0)
  private var logarithms: [Float]
  /// The power of the last block's bins, each with its neighbours.
  private var local: [Float]
  private var smoothed: [Float]
  /// The least smoothed power of the last stretches, the newest of which is not over, and of all.
  private var minima: [[Float]]
  private var least: [Float]

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
    least = power
    minima = Array(repeating: power, count: 4)
  }

  /// Takes in the power of a block's bins, of which none is zero.
  mutating func follow(_ total: [Float]) {
    // What was silenced, as before a device starts, says nothing of its noise.
    guard total.contains(where: { $0 > Self.silence }) else { return }
    if started < startBlocks { return start(total) }
    smooth(total)
    let elsewhere = 1 - Self.caution * Self.likelihood(speechOverNoise, Self.speechRatio)
    for bin in 0..<power.count {
      let ratio = smoothed[bin] / power[bin]
      let isNoise = (1 - Self.likelihood(ratio, Self.binRatio)) * elsewhere
      power[bin] += noiseStep * isNoise * (local[bin] - power[bin])
      let least = least.mean(around: bin, reach: Self.reach)
      power[bin] = max(
        Self.leastOverLeast * least, min(Self.mostOverLeast * least, power[bin]))
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
    least = power
    for stretch in minima.indices { minima[stretch] = power }
  }

  /// Smooths powers over bins and time, and keeps the least.
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
      least[bin] = min(min(minima[0][bin], minima[1][bin]), min(minima[2][bin], minima[3][bin]))
    }
  }

  private var speechOverNoise: Float {
    var sum: Float = 0
    for bin in speech { sum += min(Self.most, smoothed[bin] / power[bin]) }
    return sum / Float(speech.count)
  }

  /// How likely a ratio is speech: 1/2 at `even`, and the more the steeper.
  private static func likelihood(_ ratio: Float, _ even: Float) -> Float {
    let square = (even / ratio) * (even / ratio)
    return 1 / (1 + square * square * square)
  }
}
