// Audio thread.

/// The highest peak of the last frames for a limiter, stored as the maxima of sixteen blocks so
/// that the work per frame is bounded. One thread uses a value at a time.
package struct SlidingPeak: BitwiseCopyable, Sendable {
  /// The number of frames in a block; 0 for a window without memory.
  package let blockFrames: Int
  /// The number of frames in the current block so far.
  package private(set) var filled = 0
  /// The highest peak of the last sixteen blocks.
  package private(set) var highest: Float = 0
  private var blockPeak: Float = 0
  private var peaks = SIMD16<Float>(repeating: 0)
  private var oldest = 0

  /// Creates a window of sixteen blocks of silence.
  package init(blockFrames: Int) {
    self.blockFrames = blockFrames
  }

  /// Adds the peak of the next `frames` frames, which must fit in the current block. Returns true
  /// if they complete the block, so that `highest` may have changed.
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

  /// Returns the gain that reduces the highest peak to `limit`; 1 if the peak is not above it.
  @_noLocks
  package func gain(limit: Float) -> Float {
    highest > limit ? Self.gain(of: highest, limit: limit) : 1
  }

  /// Returns the gain that reduces `peak` to `limit`. It is slightly lower than exact, so that the
  /// rounded product with the peak is not above the limit.
  @_noLocks
  package static func gain(of peak: Float, limit: Float) -> Float { limit * margin / peak }

  /// The factor that lowers a limit before the division by a peak.
  package static var margin: Float { @_noLocks get { 0.999_999 } }

  /// The smallest increase of a gain that is not lost in rounding.
  package static var minimumStep: Float { @_noLocks get { 0.000_000_12 } }

  /// Replaces the oldest block by the current one.
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
