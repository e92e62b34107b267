import AudioBasics
import Glibc

/// Brings one channel's speech to an even level. speexdsp judges by how much; the samples are
/// multiplied here, in float, for its own have 16 bits, whose rounding would be raised, too.
///
/// What comes out is one block late, so that a peak is seen before it is there: the gain lies on a
/// straight line between block ends, and at each end it is small enough for both sides.
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

  private let judge: Preprocessor
  private let rise: Float
  private let release: Float
  /// The gain but for peaks.
  private var level: Float = 1
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
    rise = Decibels.gain(Self.risePerSecond * blockSeconds)
    release = Decibels.gain(Self.releasePerSecond * blockSeconds)
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
    level = min(Decibels.gain(Double(judge.gainDecibels)), level * rise)
    var next = min(level, gain * release)
    let highest = max(peak, waitingPeak)
    if next * highest > Self.ceiling { next = Self.ceiling / highest }
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
