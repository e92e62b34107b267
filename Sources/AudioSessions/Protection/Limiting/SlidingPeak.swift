// Audio thread.

import CVectors

/// The highest peak of the last frames for a limiter, stored as the maxima of sixteen blocks so
/// that the work per frame is bounded. (M. van Herk, "A fast algorithm for local minimum and
/// maximum filters", Pattern Recognition Letters 13, 1992.) One thread uses a value at a time.
struct SlidingPeak: BitwiseCopyable, Sendable {
  /// The number of frames in a block; 0 for a window without memory.
  let blockFrames: Int
  /// The number of frames in the current block so far.
  private(set) var filled = 0
  /// The highest peak of the last sixteen blocks.
  private(set) var highest: Float = 0
  private var blockPeak: Float = 0
  /// Blocks are counted in rounds of sixteen. Before `oldest` these are the peaks of the blocks of
  /// this round; from `oldest` on, each is the highest peak of the last round from that block on.
  private var peaks = InlineArray<16, Float>(repeating: 0)
  private var oldest = 0
  /// The highest peak of this round.
  private var latest: Float = 0

  /// Creates a window of sixteen blocks of silence.
  init(blockFrames: Int) {
    self.blockFrames = blockFrames
  }

  /// Adds the peak of the next `frames` frames, which counts for each block that contains some of
  /// them. Returns true if they complete a block, so that `highest` may have changed. A window
  /// without memory is always complete, and its highest peak is 0.
  @_noLocks
  mutating func add(_ peak: Float, frames: Int) -> Bool {
    guard blockFrames > 0 else { return true }
    if peak > blockPeak { blockPeak = peak }
    filled &+= frames
    guard filled >= blockFrames else { return false }
    repeat {
      replaceOldest()
      blockPeak = peak
      filled &-= blockFrames
    } while filled >= blockFrames
    if filled == 0 { blockPeak = 0 }
    let earlier = peaks[oldest]
    highest = earlier > latest ? earlier : latest
    return true
  }

  /// Returns the gain that reduces the highest peak to `limit`; 1 if the peak is not above it.
  @_noLocks
  func gain(limit: Float) -> Float {
    highest > limit ? Self.gain(of: highest, limit: limit) : 1
  }

  /// Returns the gain that reduces `peak`, rounded up to the next of 128 values per octave, to
  /// `limit`; 1 if the peak is not above it. The gain is the same for all peaks between two values,
  /// 0.07 dB, as those of steady noise are.
  @_noLocks
  static func steadyGain(of peak: Float, limit: Float) -> Float {
    let step: UInt32 = 1 << 16
    let rounded = Float(bitPattern: (peak.bitPattern &+ (step &- 1)) & ~(step &- 1))
    return peak > limit ? gain(of: rounded, limit: limit) : 1
  }

  /// Returns the gain that reduces `peak` to `limit`. It is slightly lower than exact, so that the
  /// rounded product with the peak is not above the limit.
  @_noLocks
  static func gain(of peak: Float, limit: Float) -> Float { limit * limiter_margin / peak }

  /// Adds the current block in place of the oldest one.
  @_noLocks @inline(__always)
  private mutating func replaceOldest() {
    peaks[oldest] = blockPeak
    if blockPeak > latest { latest = blockPeak }
    oldest &+= 1
    if oldest == 16 { beginRound() }
  }

  /// Begins a round. Of the last one, the highest peak from each block on is needed.
  @_noLocks @inline(never)
  private mutating func beginRound() {
    var block = 14
    while block >= 0 {
      peaks[block] = max(peaks[block], peaks[block &+ 1])
      block &-= 1
    }
    oldest = 0
    latest = 0
  }
}
