// Audio thread.

import AudioBasics
import AudioLevels

/// The levels of four bands over the last five seconds, and the gains of the limiters.
struct LevelHistory: ~Copyable {
  private var levels: SampleBuffer
  private var gains: SampleBuffer
  /// The index of the latest hop.
  private(set) var newest = 0
  private static var capacity: Int { @_noLocks get { 2048 } }
  /// The level of silence, in dBFS.
  static var silence: Float { @_noLocks get { -200 } }

  init() {
    levels = SampleBuffer(frameCount: Self.capacity, channelCount: 4)
    gains = SampleBuffer(frameCount: Self.capacity, channelCount: 1)
    clear()
  }

  /// Sets all levels to silence.
  @_noLocks
  mutating func clear() {
    var index = 0
    while index < levels.sampleCount {
      levels[index] = Self.silence
      index &+= 1
    }
  }

  /// Adds the levels of a hop, which the limiters change by `gain` dB. The levels are rounded, so
  /// that sums of them are exact.
  @_noLocks
  mutating func add(_ hop: SIMD4<Float>, gain: Float) {
    newest = (newest &+ 1) & (Self.capacity &- 1)
    gains[newest] = gain
    levels.setFourSamples(RegressionSums.rounded(hop), at: offset(age: 0))
  }

  /// Returns the offset of the levels of `age` hops ago.
  @_noLocks @inline(__always)
  private func offset(age: Int) -> Int {
    ((newest &- age) & (Self.capacity &- 1)) &* 4
  }

  /// Returns the level of each band `age` hops ago.
  @_noLocks @inline(__always)
  func levels(age: Int) -> SIMD4<Float> { levels.fourSamples(at: offset(age: age)) }

  /// Returns a band's level `age` hops ago.
  @_noLocks
  func level(band: Int, age: Int) -> Float {
    levels[offset(age: age) &+ band]
  }

  /// Returns a band's highest level in `hops` hops, the last of which was `age` hops ago.
  @_noLocks
  func highest(band: Int, hops: Int, age: Int) -> Float {
    var highest = Self.silence
    var past = age
    while past < age &+ hops {
      highest = max(highest, level(band: band, age: past))
      past &+= 1
    }
    return highest
  }

  /// Returns a band's level `age` hops ago as it was played, after the limiters.
  @_noLocks
  func playedLevel(band: Int, age: Int) -> Float {
    let mask = Self.capacity &- 1
    let offset = newest &- age
    return level(band: band, age: age) + 0.25
      * (gains[offset & mask] + gains[(offset &- 1) & mask] + gains[(offset &- 2) & mask]
        + gains[(offset &- 3) & mask])
  }

  /// Returns whether a band is at most 2 dB below its levels `hops` hops ago and half as many hops
  /// ago.
  @_noLocks
  func isSteady(band: Int, hops: Int) -> Bool {
    let now = level(band: band, age: 0) + 2
    return now > level(band: band, age: hops) && now > level(band: band, age: hops / 2)
  }
}
