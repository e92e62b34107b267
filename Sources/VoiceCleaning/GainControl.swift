import AudioBasics
import Glibc

/// Brings the speech of one channel to a constant level.
///
/// A block is speech if its power in the bins of speech exceeds the estimated stationary noise
/// (`NoiseAnalysis`), so that noise of any colour is not amplified: the gain falls to 0 dB 0.3 s
/// after the last word, and returns with the next one. The level is the mean power of speech, as in
/// the active speech level of ITU-T P.56.
///
/// The output is one block late, so that a word or a peak is known in advance. The gain changes
/// linearly between block ends, and at each end it is small enough for both sides.
struct GainControl {
  /// The upper limit of peaks: -1 dBFS.
  static let ceiling: Float = 0.891_250_9
  /// The target of the RMS level of speech.
  private static let target = Gain(decibels: -20)
  /// The largest gain of quiet speech.
  private static let maximumGain = Gain(decibels: 30)
  /// The largest rise of the level, in decibels per second. A faster rise would be audible as
  /// pumping.
  private static let risePerSecond = 12.0
  /// The recovery rate after a reduction for a peak, in decibels per second, so that one click does
  /// not make the next words quiet.
  private static let releasePerSecond = 60.0
  /// The fall of the gain in a pause, and its rise after the pause, in decibels per second. The
  /// rise for a word takes less than a block.
  private static let (pausePerSecond, wordPerSecond) = (40.0, 2000.0)
  /// The time without speech after which a pause begins, in seconds.
  private static let holdSeconds = 0.3
  /// The time constant of the mean power of speech, in seconds.
  private static let levelSeconds = 1.5
  /// The largest ratio of a block's power to the mean that counts, so that a shout or a bang does
  /// not make the next words quiet.
  private static let maximumRatio: Float = 10

  private let sampleCount: Float
  private let rise: Float
  private let release: Float
  private let (pauseFall, wordRise): (Float, Float)
  private let holdBlocks: Int
  private let levelStep: Float

  /// The mean power of blocks of speech, and their number.
  private var speechPower: Float = 0
  private var speechBlocks: Float = 0
  /// The gain of speech before the reduction for peaks.
  private var level: Float = 1
  /// The number of consecutive blocks without speech.
  private var blocksOfPause: Int
  /// The gain before the reduction for peaks, also in pauses; and the reduction for peaks, at most
  /// 1.
  private var (held, lowered): (Float, Float) = (1, 1)
  private var waiting: [Float]
  private var waitingPeak: Float = 0
  /// The gain at the beginning of the waiting block.
  private var gain: Float = 1

  init(blockFrames: Int, sampleRate: Int) {
    let blockSeconds = Double(blockFrames) / Double(sampleRate)
    sampleCount = Float(blockFrames)
    rise = Gain(decibels: Self.risePerSecond * blockSeconds).factor
    release = Gain(decibels: Self.releasePerSecond * blockSeconds).factor
    pauseFall = Gain(decibels: -Self.pausePerSecond * blockSeconds).factor
    wordRise = Gain(decibels: Self.wordPerSecond * blockSeconds).factor
    holdBlocks = Int(clamping: (Self.holdSeconds / blockSeconds).rounded(.up))
    levelStep = Float(1 - exp(-blockSeconds / Self.levelSeconds))
    blocksOfPause = holdBlocks
    waiting = Array(repeating: 0, count: blockFrames)
  }

  /// Adds a block, which contains speech or not, and replaces it by the previous block at its new
  /// level. Samples beyond full scale are clipped.
  mutating func run(_ block: inout [Float], isSpeech: Bool) {
    var peak: Float = 0
    var power: Float = 0
    for index in block.indices {
      block[index] = max(-1, min(1, block[index]))
      peak = max(peak, abs(block[index]))
      power += block[index] * block[index]
    }
    if isSpeech { follow(power / sampleCount) }
    blocksOfPause = isSpeech ? 0 : min(blocksOfPause + 1, holdBlocks)
    let wanted = blocksOfPause < holdBlocks ? level : min(level, 1)
    held = min(max(wanted, held * pauseFall), held * wordRise)
    lowered = min(1, lowered * release)
    let highest = max(peak, waitingPeak)
    if held * lowered * highest > Self.ceiling { lowered = Self.ceiling / (held * highest) }
    let next = held * lowered
    let step = (next - gain) / sampleCount
    swap(&block, &waiting)
    for index in block.indices { block[index] *= gain + step * Float(index) }
    gain = next
    waitingPeak = peak
  }

  /// Adds the power of a block of speech to the mean, and moves the level towards the target.
  private mutating func follow(_ power: Float) {
    speechBlocks += 1
    // The mean of all blocks at first.
    let step = max(levelStep, 1 / speechBlocks)
    let bounded = step > levelStep ? power : min(power, Self.maximumRatio * speechPower)
    speechPower += step * (bounded - speechPower)
    let wanted = Self.target.factor / max(speechPower, 1e-12).squareRoot()
    level = min(wanted, Self.maximumGain.factor, level * rise)
  }
}
