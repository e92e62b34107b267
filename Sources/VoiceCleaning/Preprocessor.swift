import AudioBasics
import CSpeexVoice
import Glibc

/// The preprocessor of speexdsp for one channel: it reduces the residual echo, or determines the
/// gain that speech needs. The output is one block late.
final class Preprocessor {
  private let state: OpaquePointer
  /// The echo canceller from which the state reads the residual echo, to reduce it as well. This
  /// reference keeps it alive.
  var canceller: EchoCanceller? {
    didSet {
      speex_preprocess_ctl(
        state, SPEEX_PREPROCESS_SET_ECHO_STATE, canceller.map { UnsafeMutableRawPointer($0.state) })
    }
  }

  /// The largest gain for quiet speech, in decibels.
  private static let maximumGain: Int32 = 30

  /// Creates a preprocessor that reduces the residual echo of a canceller. Throws if memory is
  /// insufficient.
  init(blockFrames: Int, sampleRate: Int) throws(CleaningFailure) {
    guard let state = speex_preprocess_state_init(Int32(blockFrames), Int32(sampleRate)) else {
      throw .outOfMemory
    }
    self.state = state
    // Without noise suppression, the gains for the residual echo would not be applied either.
    set(SPEEX_PREPROCESS_SET_DENOISE, 1)
    set(SPEEX_PREPROCESS_SET_NOISE_SUPPRESS, 0)
  }

  /// Creates a preprocessor that measures the loudness of speech for a level of `target` (in units
  /// of `SixteenBits`). Throws if memory is insufficient.
  init(target: Int32, blockFrames: Int, sampleRate: Int) throws(CleaningFailure) {
    guard let state = speex_preprocess_state_init(Int32(blockFrames), Int32(sampleRate)) else {
      throw .outOfMemory
    }
    self.state = state
    set(SPEEX_PREPROCESS_SET_DENOISE, 0)
    set(SPEEX_PREPROCESS_SET_AGC, 1)
    set(SPEEX_PREPROCESS_SET_AGC_TARGET, target)
    set(SPEEX_PREPROCESS_SET_AGC_MAX_GAIN, Self.maximumGain)
  }

  deinit {
    speex_preprocess_state_destroy(state)
  }

  /// Adds a block and replaces it by the previous block, cleaned.
  func run(_ block: inout [Int16]) {
    speex_preprocess_run(state, &block)
  }

  /// The present gain, in whole decibels.
  var gainDecibels: Int32 {
    var gain: Int32 = 0
    speex_preprocess_ctl(state, SPEEX_PREPROCESS_GET_AGC_GAIN, &gain)
    return gain
  }

  /// The probability that the last block was speech, in percent.
  var speechPercent: Int32 {
    var percent: Int32 = 0
    speex_preprocess_ctl(state, SPEEX_PREPROCESS_GET_PROB, &percent)
    return percent
  }

  private func set(_ request: Int32, _ value: Int32) {
    var value = value
    speex_preprocess_ctl(state, request, &value)
  }
}

/// Brings the speech of one channel to a constant level. speexdsp determines the gain. The samples
/// are multiplied here, in float, because those of speexdsp have 16 bits, whose rounding noise
/// would be amplified, too.
///
/// Pauses and the noise in them are not amplified: the gain falls to 0 dB half a second after the
/// last word, and returns before the next one.
///
/// The output is one block late, so that a word or a peak is known in advance. The gain changes
/// linearly between block ends, and at each end it is small enough for both sides.
struct GainControl {
  /// The upper limit of peaks: -1 dBFS.
  static let ceiling: Float = 0.891_250_9
  /// The target level in the units of speexdsp, for blocks of 512 frames. It was determined by
  /// experiment and brings speech to -20 dBFS. The measure grows with the square root of a block's
  /// frames (1.2.1).
  private static let target = 26_600.0
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
  /// The least probability of a block of speech, in percent. Steady noise is 19 to 29 % for
  /// speexdsp (1.2.1). Words are 60 % and more, and so is the signal for up to 0.3 s after them.
  private static let speechPercent: Int32 = 50

  private let judge: Preprocessor
  private let rise: Float
  private let release: Float
  private let (pauseFall, wordRise): (Float, Float)
  private let holdBlocks: Int
  /// The gain of speech before the reduction for peaks.
  private var level: Float = 1
  /// The number of blocks without speech so far.
  private var blocksOfPause: Int
  /// The gain before the reduction for peaks, also in pauses; and the reduction for peaks, at most
  /// 1.
  private var (held, lowered): (Float, Float) = (1, 1)
  private var waiting: [Float]
  private var waitingPeak: Float = 0
  /// The gain at the beginning of the waiting block.
  private var gain: Float = 1
  private var numbers: [Int16]

  init(blockFrames: Int, sampleRate: Int) throws(CleaningFailure) {
    judge = try Preprocessor(
      target: Int32(clamping: Self.target * (Double(blockFrames) / 512).squareRoot()),
      blockFrames: blockFrames, sampleRate: sampleRate)
    let blockSeconds = Double(blockFrames) / Double(sampleRate)
    rise = Gain(decibels: Self.risePerSecond * blockSeconds).factor
    release = Gain(decibels: Self.releasePerSecond * blockSeconds).factor
    pauseFall = Gain(decibels: -Self.pausePerSecond * blockSeconds).factor
    wordRise = Gain(decibels: Self.wordPerSecond * blockSeconds).factor
    holdBlocks = Int(clamping: (Self.holdSeconds / blockSeconds).rounded(.up))
    blocksOfPause = holdBlocks
    waiting = Array(repeating: 0, count: blockFrames)
    numbers = Array(repeating: 0, count: blockFrames)
  }

  /// Adds a block and replaces it by the previous block at its new level. Samples beyond full scale
  /// are clipped.
  mutating func run(_ block: inout [Float]) {
    var peak: Float = 0
    for index in 0..<block.count {
      block[index] = max(-1, min(1, block[index]))
      peak = max(peak, abs(block[index]))
      numbers[index] = SixteenBits.number(block[index])
    }
    judge.run(&numbers)
    level = min(Gain(decibels: Double(judge.gainDecibels)).factor, level * rise)
    let isSpeech = judge.speechPercent >= Self.speechPercent
    blocksOfPause = isSpeech ? 0 : min(blocksOfPause + 1, holdBlocks)
    let wanted = blocksOfPause < holdBlocks ? level : min(level, 1)
    held = min(max(wanted, held * pauseFall), held * wordRise)
    lowered = min(1, lowered * release)
    let highest = max(peak, waitingPeak)
    if held * lowered * highest > Self.ceiling { lowered = Self.ceiling / (held * highest) }
    let next = held * lowered
    let step = (next - gain) / Float(block.count)
    for index in 0..<block.count {
      let louder = waiting[index] * (gain + step * Float(index))
      waiting[index] = block[index]
      block[index] = louder
    }
    gain = next
    waitingPeak = peak
  }
}
