// Audio thread.

import AudioBasics
import AudioLevels

/// The levels of four bands over the last five seconds, and what the limiters left of them.
struct LevelHistory: ~Copyable {
  private var levels: SampleBuffer
  private var gains: SampleBuffer
  /// The place of the latest hop.
  private(set) var newest = 0
  private static var capacity: Int { @_noLocks get { 2048 } }
  /// The level of silence, in dBFS.
  static var silence: Float { @_noLocks get { -200 } }

  init() {
    levels = SampleBuffer(frameCount: Self.capacity, channelCount: 4)
    gains = SampleBuffer(frameCount: Self.capacity, channelCount: 1)
    clear()
  }

  /// Forgets everything.
  @_noLocks
  mutating func clear() {
    var index = 0
    while index < levels.sampleCount {
      levels[index] = Self.silence
      index &+= 1
    }
  }

  /// Adds the levels of a hop, which the limiters leave `gain` dB of; rounded, so that sums of them
  /// are exact.
  @_noLocks
  mutating func add(_ hop: SIMD4<Float>, gain: Float) {
    newest = (newest &+ 1) & (Self.capacity &- 1)
    gains[newest] = gain
    levels.setFourSamples(RegressionSums.rounded(hop), at: offset(age: 0))
  }

  /// Where the levels of `age` hops ago are.
  @_noLocks @inline(__always)
  private func offset(age: Int) -> Int {
    ((newest &- age) & (Self.capacity &- 1)) &* 4
  }

  /// The level of each band `age` hops ago.
  @_noLocks @inline(__always)
  func levels(age: Int) -> SIMD4<Float> { levels.fourSamples(at: offset(age: age)) }

  /// A band's level `age` hops ago.
  @_noLocks
  func level(band: Int, age: Int) -> Float {
    levels[offset(age: age) &+ band]
  }

  /// A band's highest level in `hops` hops, the last of which was `age` hops ago.
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

  /// A band's level `age` hops ago as it was played.
  @_noLocks
  func playedLevel(band: Int, age: Int) -> Float {
    let mask = Self.capacity &- 1
    let offset = newest &- age
    return level(band: band, age: age) + 0.25
      * (gains[offset & mask] + gains[(offset &- 1) & mask] + gains[(offset &- 2) & mask]
        + gains[(offset &- 3) & mask])
  }

  /// Whether a band is about as loud as it was `hops` hops ago, and half of them ago.
  @_noLocks
  func stands(band: Int, hops: Int) -> Bool {
    let now = level(band: band, age: 0) + 2
    return now > level(band: band, age: hops) && now > level(band: band, age: hops / 2)
  }
}
