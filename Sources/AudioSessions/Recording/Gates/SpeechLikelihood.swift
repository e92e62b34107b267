import Glibc

/// The likelihood that a block of one channel is speech in noise: the mean over the bins of a
/// spectrum of the logarithm of the likelihood ratio (J. Sohn, N. S. Kim, W. Sung, "A statistical
/// model-based voice activity detection", 1999).
///
/// The noise estimate of each bin is updated according to the probability that the bin contains
/// speech (T. Gerkmann, R. C. Hendriks, "Unbiased MMSE-based noise power estimation with low
/// complexity and low tracking delay", 2012): probable noise changes the estimate, probable speech
/// does not.
struct SpeechLikelihood: Sendable {
  /// The first noise estimate is the lowest mean of 50 ms in each bin, multiplied by this bias,
  /// since the mean of noise is higher.
  private static let firstBlocksOfMean = 5
  private static let firstBias: Float = 1.6
  /// The minimum noise power per bin: lower values are digital silence.
  private static let minimumNoise: Float = 1e-11
  /// The expected signal-to-noise ratio of speech: 15 dB.
  private static let expectedRatio: Float = 31.62
  /// The highest probability for a bin that has long seemed to be speech without a pause: noise
  /// that has permanently become louder is then classified as noise again after some seconds.
  private static let maximumPresence: Float = 0.99
  /// The share of the noise estimate that is kept from one block to the next.
  private static let noiseMemory: Float = 0.8
  /// The weight of the last block's estimate in the decision-directed signal-to-noise ratio (Y.
  /// Ephraim, D. Malah, 1984), and the minimum ratio: -25 dB.
  private static let ratioMemory: Float = 0.9
  private static let minimumRatio: Float = 0.003
  /// Limits for a single bin: one loud tone is not speech.
  private static let maximumPower: Float = 1000
  private static let maximumEvidence: Float = 8

  /// The power of the noise in each bin.
  private var noise: [Float]
  /// The mean probability of speech in each bin.
  private var presence: [Float]
  /// The power of the speech in each bin, in the last block.
  private var speech: [Float]
  private var means: [Float]
  private var blockCount = 0

  /// Creates a likelihood for spectra of `binCount` bins.
  init(binCount: Int) {
    noise = Array(repeating: .infinity, count: binCount)
    presence = Array(repeating: 0, count: binCount)
    speech = presence
    means = presence
  }

  /// Processes the power spectrum of the next block, and returns the mean logarithm of the
  /// likelihood ratio: about 0.15 in steady noise, and some units in speech. nil until the noise is
  /// known.
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

  /// Estimates the noise from the first blocks, except the very first, which may be half silence.
  private mutating func learn(_ power: [Float]) {
    guard blockCount > 1 else { return }
    let share = 1 / Float(min(blockCount - 1, Self.firstBlocksOfMean))
    let isWhole = blockCount > Self.firstBlocksOfMean
    for bin in power.indices {
      means[bin] += share * (power[bin] - means[bin])
      if isWhole {
        noise[bin] = min(noise[bin], max(Self.minimumNoise, Self.firstBias * means[bin]))
      }
    }
  }

  private mutating func evidence(_ power: Float, in bin: Int) -> Float {
    let level = noise[bin]
    let posterior = min(power / level, Self.maximumPower)
    let prior = max(
      Self.minimumRatio,
      Self.ratioMemory * speech[bin] / level + (1 - Self.ratioMemory) * max(0, posterior - 1))
    let gain = prior / (1 + prior)
    speech[bin] = gain * gain * posterior * level
    followNoise(power, posterior: posterior, in: bin)
    return min(Self.maximumEvidence, posterior * gain - logf(1 + prior))
  }

  private mutating func followNoise(_ power: Float, posterior: Float, in bin: Int) {
    let ratio = Self.expectedRatio
    var probability = 1 / (1 + (1 + ratio) * expf(-posterior * ratio / (1 + ratio)))
    presence[bin] += 0.1 * (probability - presence[bin])
    if presence[bin] > Self.maximumPresence { probability = min(probability, Self.maximumPresence) }
    let heard = (1 - probability) * power + probability * noise[bin]
    let memory = Self.noiseMemory
    noise[bin] = max(Self.minimumNoise, memory * noise[bin] + (1 - memory) * heard)
  }
}

/// A threshold for the likelihood of speech that distinguishes speech from steady noise.
///
/// The 500 ms with the lowest likelihood within the last 10 s contained no speech: their mean and
/// deviation are those of the noise. If they show that the noise is not steady, there is no
/// evidence of speech, and other features must decide.
struct LikelihoodThreshold: Sendable {
  /// The length of a stretch, and the interval between the ends of stretches, in blocks.
  private static let stretchBlocks = 50
  private static let stepBlocks = 10
  private static let rememberedStretches = 100
  /// Limits of steady noise.
  private static let maximumMean: Float = 0.3
  private static let maximumDeviation: Float = 0.13
  /// Speech must exceed the noise's mean by `margin` plus `deviations` standard deviations.
  private static let margin: Float = 0.1
  private static let deviations: Float = 2.5
  /// The multiples of this excess from which on speech continues, and from which on a block has a
  /// higher weight.
  private static let weakShare: Float = 0.7
  private static let distinctShare: Float = 3
  /// The minimum mean of noise.
  private static let minimumMean: Float = 0.15

  private var recent: [Float] = Array(repeating: 0, count: stretchBlocks)
  private var stretches: [(mean: Float, deviation: Float)] = []
  private var blockCount = 0
  /// The mean likelihood of the noise, and the excess from which on speech begins; nil while the
  /// noise is not known to be steady.
  private var noise: (mean: Float, rise: Float)?

  /// Adds the likelihood of the next block.
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
      lowest.mean < Self.maximumMean, lowest.deviation < Self.maximumDeviation
    else {
      noise = nil
      return
    }
    noise = (
      max(Self.minimumMean, lowest.mean), Self.margin + Self.deviations * lowest.deviation
    )
  }

  /// Returns the evidence of speech in a block of that likelihood.
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

  /// Creates the median of the last `count` values; zeros precede the first.
  init(count: Int) {
    values = Array(repeating: 0, count: count)
    sorted = values
  }

  /// Adds `value` and returns the median.
  mutating func add(_ value: Float) -> Float {
    values[next] = value
    next = (next + 1) % values.count
    for index in values.indices { sorted[index] = values[index] }
    sorted.sort()
    return sorted[sorted.count / 2]
  }
}
