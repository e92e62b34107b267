// Audio thread.

/// The highest peak of the last frames, kept as the maxima of sixteen blocks so that the work of a
/// frame has a bound: what a limiter goes by. A value belongs to one thread at a time.
package struct SlidingPeak: BitwiseCopyable, Sendable {
  /// Frames of a block; 0 for a window that remembers nothing.
  package let blockFrames: Int
  /// Frames of the present block so far.
  package private(set) var filled = 0
  /// The highest peak of the last sixteen blocks.
  package private(set) var highest: Float = 0
  private var blockPeak: Float = 0
  private var peaks = SIMD16<Float>(repeating: 0)
  private var oldest = 0

  /// A window of sixteen blocks of silence.
  package init(blockFrames: Int) {
    self.blockFrames = blockFrames
  }

  /// Takes in the peak of the next `frames` frames, which are no more than the present block has
  /// room for. True where they complete it, so that `highest` may be another one.
  @_noLocks
  package mutating func add(_ peak: Float, frames: Int) -> Bool {
    if peak > blockPeak { blockPeak = peak }
    filled &+= frames
    guard filled >= blockFrames else { return false }
    if blockFrames > 0 { replaceOldest() }
    blockPeak = 0
    filled = 0
    return true
  }

  /// The gain that keeps the highest peak at `limit`, 1 where that is below it.
  @_noLocks
  package func gain(limit: Float) -> Float {
    highest > limit ? Self.gain(of: highest, limit: limit) : 1
  }

  /// The gain that brings `peak` down to `limit`: a little less than exact, so that its rounded
  /// product with the peak is not above the limit.
  @_noLocks
  package static func gain(of peak: Float, limit: Float) -> Float { limit * margin / peak }

  /// Factor by which a limit is lowered before it is divided by a peak.
  package static var margin: Float { @_noLocks get { 0.999_999 } }

  /// The least rise of a gain: less would be lost in rounding.
  package static var leastStep: Float { @_noLocks get { 0.000_000_12 } }

  /// Replaces the oldest block by the present one.
  @_noLocks
  private mutating func replaceOldest() {
    peaks[oldest] = blockPeak
    oldest = (oldest &+ 1) & 15
    let eight = peaks.lowHalf.replacing(
      with: peaks.highHalf, where: peaks.highHalf .> peaks.lowHalf)
    let four = eight.lowHalf.replacing(
      with: eight.highHalf, where: eight.highHalf .> eight.lowHalf)
    highest = max(max(four[0], four[1]), max(four[2], four[3]))
  }
}
