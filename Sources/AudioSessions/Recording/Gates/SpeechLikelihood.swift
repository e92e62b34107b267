import Glibc

/// The likelihood that a block of one channel is speech in noise: the mean over the bins of a
/// spectrum of the logarithm of the likelihood ratio (J. Sohn, N. S. Kim, W. Sung, "A statistical
/// model-based voice activity detection", 1999).
///
/// The noise in each bin is followed by the probability that the bin holds speech (T. Gerkmann,
/// R. C. Hendriks, "Unbiased MMSE-based noise power estimation with low complexity and low tracking
/// delay", 2012): what is probably noise moves the estimate, what is probably speech does not.
struct SpeechLikelihood: Sendable {
  /// The first noise is the lowest mean of 50 ms in each bin; the mean of noise lies this much
  /// higher.
  private static let firstBlocksOfMean = 5
  private static let firstBias: Float = 1.6
  /// The quietest noise that is believed in, per bin: below lies digital silence.
  private static let leastNoise: Float = 1e-11
  /// The signal-to-noise ratio that speech is expected to have where there is any: 15 dB.
  private static let expectedRatio: Float = 31.62
  /// A bin that has long seemed to be speech without a pause is allowed this much doubt: noise that
  /// has become louder for good is noise again after some seconds.
  private static let mostPresence: Float = 0.99
  /// How much of the noise estimate is kept from one block to the next.
  private static let noiseMemory: Float = 0.8
  /// How much the last block's estimate weighs in the decision-directed signal-to-noise ratio
  /// (Y. Ephraim, D. Malah, 1984), and the least such ratio: -25 dB.
  private static let ratioMemory: Float = 0.9
  private static let leastRatio: Float = 0.003
  /// Limits of what one bin says: one loud tone is not speech.
  private static let mostPower: Float = 1000
  private static let mostEvidence: Float = 8

  /// Power of the noise in each bin.
  private var noise: [Float]
  /// The mean probability of speech in each bin.
  private var presence: [Float]
  /// Power of the speech in each bin, in the last block.
  private var speech: [Float]
  private var means: [Float]
  private var blockCount = 0

  /// A likelihood from spectra of `binCount` bins.
  init(binCount: Int) {
    noise = Array(repeating: .infinity, count: binCount)
    presence = Array(repeating: 0, count: binCount)
    speech = presence
    means = presence
  }

  /// Takes the power spectrum of the next block, and returns the mean logarithm of the likelihood
  /// ratio: about 0.15 in steady noise, and some units in speech. Nil until the noise is known.
  mutating func next(_ power: [Float]) -> Float? {
    blockCount += 1
    guard blockCount > NoiseFloor.firstBlocks else {
      learn(power)
      return nil
    }
    var sum: Float = 0
    for bin in power.indices { sum += evidence(power[bin], in: bin) }
    return sum / Float(power.count)
  }

  /// Finds the noise of the first blocks, of which the very first may be half silence.
  private mutating func learn(_ power: [Float]) {
    guard blockCount > 1 else { return }
    let share = 1 / Float(min(blockCount - 1, Self.firstBlocksOfMean))
    let isWhole = blockCount > Self.firstBlocksOfMean
    for bin in power.indices {
      means[bin] += share * (power[bin] - means[bin])
      if isWhole { noise[bin] = min(noise[bin], max(Self.leastNoise, Self.firstBias * means[bin])) }
    }
  }

  private mutating func evidence(_ power: Float, in bin: Int) -> Float {
    let level = noise[bin]
    let posterior = min(power / level, Self.mostPower)
    let prior = max(
      Self.leastRatio,
      Self.ratioMemory * speech[bin] / level + (1 - Self.ratioMemory) * max(0, posterior - 1))
    let gain = prior / (1 + prior)
    speech[bin] = gain * gain * posterior * level
    followNoise(power, posterior: posterior, in: bin)
    return min(Self.mostEvidence, posterior * gain - logf(1 + prior))
  }

  private mutating func followNoise(_ power: Float, posterior: Float, in bin: Int) {
    let ratio = Self.expectedRatio
    var probability = 1 / (1 + (1 + ratio) * expf(-posterior * ratio / (1 + ratio)))
    presence[bin] += 0.1 * (probability - presence[bin])
    if presence[bin] > Self.mostPresence { probability = min(probability, Self.mostPresence) }
    let heard = (1 - probability) * power + probability * noise[bin]
    let memory = Self.noiseMemory
    noise[bin] = max(Self.leastNoise, memory * noise[bin] + (1 - memory) * heard)
  }
}

/// Which likelihood of speech stands out from steady noise.
///
/// The half second in which the likelihood was lowest, of the last ten seconds, held no speech: its
/// mean and its deviation are those of the noise. Where they show that the noise is not steady,
/// nothing stands out: other features must decide there.
struct LikelihoodThreshold: Sendable {
  /// A stretch, and how often one ends, in blocks.
  private static let stretchBlocks = 50
  private static let stepBlocks = 10
  private static let rememberedStretches = 100
  /// Noise above these is not steady.
  private static let mostMean: Float = 0.3
  private static let mostDeviation: Float = 0.13
  /// Speech must be above the noise's mean by `margin` and `deviations` standard deviations.
  private static let margin: Float = 0.1
  private static let deviations: Float = 2.5
  /// The parts of this at which speech that has begun goes on, and from which on a block counts for
  /// more.
  private static let weakShare: Float = 0.7
  private static let distinctShare: Float = 3
  /// The least mean of noise that is believed in.
  private static let leastMean: Float = 0.15

  private var recent: [Float] = Array(repeating: 0, count: stretchBlocks)
  private var stretches: [(mean: Float, deviation: Float)] = []
  private var blockCount = 0
  /// The mean likelihood of the noise, and how far above it speech may begin; nil while the noise
  /// is not known to be steady.
  private var noise: (mean: Float, rise: Float)?

  /// Takes the likelihood of the next block.
  mutating func add(_ likelihood: Float) {
    recent[blockCount % Self.stretchBlocks] = likelihood
    blockCount += 1
    guard blockCount >= Self.stretchBlocks, blockCount % Self.stepBlocks == 0 else { return }
    let count = Float(recent.count)
    let mean = recent.reduce(0, +) / count
    let variance = recent.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / count
    let stretch = (mean: mean, deviation: variance.squareRoot())
    if stretches.count < Self.rememberedStretches {
      stretches.append(stretch)
    } else {
      stretches[blockCount / Self.stepBlocks % Self.rememberedStretches] = stretch
    }
    conclude()
  }

  private mutating func conclude() {
    guard let lowest = stretches.min(by: { $0.mean < $1.mean }),
      lowest.mean < Self.mostMean, lowest.deviation < Self.mostDeviation
    else {
      noise = nil
      return
    }
    noise = (
      max(Self.leastMean, lowest.mean), Self.margin + Self.deviations * lowest.deviation
    )
  }

  /// How much a block of that likelihood sounds like speech.
  func evidence(of likelihood: Float) -> SpeechEvidence {
    guard let noise else { return .none }
    func isAbove(_ share: Float) -> Bool { likelihood > noise.mean + share * noise.rise }
    return isAbove(Self.distinctShare)
      ? .distinct : isAbove(1) ? .strong : isAbove(Self.weakShare) ? .weak : .none
  }
}

/// The median of the last values.
struct RunningMedian: Sendable {
  private var values: [Float]
  private var sorted: [Float]
  private var next = 0

  /// The median of the last `count` values; zeros come before the first.
  init(count: Int) {
    values = Array(repeating: 0, count: count)
    sorted = values
  }

  /// Takes `value` and returns the median.
  mutating func add(_ value: Float) -> Float {
    values[next] = value
    next = (next + 1) % values.count
    for index in values.indices { sorted[index] = values[index] }
    sorted.sort()
    return sorted[sorted.count / 2]
  }
}
