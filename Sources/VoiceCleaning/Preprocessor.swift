import AudioBasics
import CSpeexVoice
import Glibc

/// speexdsp's preprocessor for one channel: lowers what is left of an echo, or judges by how much
/// speech should be louder. Its blocks come out one block late.
final class Preprocessor {
  private let state: OpaquePointer
  /// Whom the state asks for the echo that is left, to lower it, too; kept alive here.
  var canceller: EchoCanceller? {
    didSet {
      speex_preprocess_ctl(
        state, SPEEX_PREPROCESS_SET_ECHO_STATE, canceller.map { UnsafeMutableRawPointer($0.state) })
    }
  }

  /// The most that quiet speech is raised by, in decibels.
  private static let maximumGain: Int32 = 30

  /// Lowers what a canceller has left of an echo.
  init(blockFrames: Int, sampleRate: Int) throws(CleaningFailure) {
    guard let state = speex_preprocess_state_init(Int32(blockFrames), Int32(sampleRate)) else {
      throw .outOfMemory
    }
    self.state = state
    // Without noise suppression, the gains that lower an echo would not be applied either.
    set(SPEEX_PREPROCESS_SET_DENOISE, 1)
    set(SPEEX_PREPROCESS_SET_NOISE_SUPPRESS, 0)
  }

  /// Judges how loud speech is, to bring it to `target` (of `SixteenBits`).
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

  /// Takes in a block and puts the one before, cleaned, in its place.
  func run(_ block: inout [Int16]) {
    speex_preprocess_run(state, &block)
  }

  /// The gain it has come to, in whole decibels.
  var gainDecibels: Int32 {
    var gain: Int32 = 0
    speex_preprocess_ctl(state, SPEEX_PREPROCESS_GET_AGC_GAIN, &gain)
    return gain
  }

  /// How likely the last block was speech, in percent.
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

/// Brings one channel's speech to an even level. speexdsp judges by how much; the samples are
/// multiplied here, in float, for its own have 16 bits, whose rounding would be raised, too.
///
/// Pauses are not raised, nor is the noise in them: the gain falls to 0 dB half a second after the
/// last word, and is back before the next one.
///
/// What comes out is one block late, so that a word or a peak is seen before it is there: the gain
/// lies on a straight line between block ends, and at each end it is small enough for both sides.
struct GainControl {
  /// Peaks stay below this: -1 dBFS.
  static let ceiling: Float = 0.891_250_9
  /// What speexdsp is to aim at, in its own measure, in blocks of 512 frames: so, found by trial,
  /// speech comes to -20 dBFS. Its measure grows with the root of a block's frames (1.2.1).
  private static let target = 26_600.0
  /// The level rises by at most this, in decibels a second: faster would be heard as pumping.
  private static let risePerSecond = 12.0
  /// What was taken back for a peak comes again by this, in decibels a second: one click does not
  /// make the next words quiet.
  private static let releasePerSecond = 60.0

  /// How fast the gain returns in a pause, and how fast it is back, in decibels a second: for a
  /// word within a block.
  private static let (pausePerSecond, wordPerSecond) = (40.0, 2000.0)
  /// A pause begins when there was no speech for so long.
  private static let holdSeconds = 0.3
  /// How likely a block of speech is speech, in percent. Steady noise is 19 to 29 % for speexdsp
  /// (1.2.1), words are 60 % and more, and so is what follows them for up to 0.3 s.
  private static let speechPercent: Int32 = 50

  private let judge: Preprocessor
  private let rise: Float
  private let release: Float
  private let (pauseFall, wordRise): (Float, Float)
  private let holdBlocks: Int
  /// The gain of speech but for peaks.
  private var level: Float = 1
  /// Blocks without speech up to now.
  private var blocksOfPause: Int
  /// The gain but for peaks, in pauses as well; and what is taken from it for peaks, at most 1.
  private var (held, lowered): (Float, Float) = (1, 1)
  private var waiting: [Float]
  private var waitingPeak: Float = 0
  /// The gain at the beginning of what waits.
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

  /// Takes in a block and puts the one before, at its level, in its place. What lies beyond full
  /// scale is cut off.
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
