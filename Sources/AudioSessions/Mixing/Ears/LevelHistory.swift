// Audio thread.
import AudioBasics

/// The levels of four bands over the last half a second, and what a feedback loop looks like in
/// them: the same rise in dB again and again, or a loudness that stands where nothing goes higher.
struct LevelHistory: ~Copyable {
  private var levels: SampleBuffer
  private var next = 0
  private static var capacity: Int { @_noLocks get { 256 } }

  init() {
    levels = SampleBuffer(frameCount: Self.capacity, channelCount: 4)
    var index = 0
    while index < levels.sampleCount {
      levels[index] = -200
      index += 1
    }
  }

  /// Forgets everything.
  @_noLocks
  mutating func clear() {
    var index = 0
    while index < levels.sampleCount {
      levels[index] = -200
      index &+= 1
    }
  }

  /// Adds a hop.
  @_noLocks
  mutating func add(_ hop: SIMD4<Float>) {
    next = (next &+ 1) & (Self.capacity &- 1)
    levels[next &* 4] = hop[0]
    levels[next &* 4 &+ 1] = hop[1]
    levels[next &* 4 &+ 2] = hop[2]
    levels[next &* 4 &+ 3] = hop[3]
  }

  /// A band's level `age` hops ago.
  @_noLocks
  func level(band: Int, age: Int) -> Float {
    levels[((next &- age) & (Self.capacity &- 1)) &* 4 &+ band]
  }

  /// The growth of a band in dB a hop, where it is that of a loop: as much in the later half of a
  /// stretch of 32 to 512 ms as in the earlier, to a factor of two, and 2 dB at least.
  @_noLocks
  func growth(band: Int) -> Float? {
    let now = level(band: band, age: 0)
    var half = 6
    while half <= 96 {
      let middle = level(band: band, age: half)
      let later = now - middle
      let earlier = middle - level(band: band, age: 2 &* half)
      if later > 2 && earlier > 2 && later < 2 * earlier && earlier < 2 * later {
        return (later + earlier) / Float(2 &* half)
      }
      half &*= 2
    }
    return nil
  }

  /// Whether a band is as loud as a microphone can be, and has not moved for 32 ms.
  @_noLocks
  func standsLoud(band: Int) -> Bool {
    let now = level(band: band, age: 0)
    return now > -12 && abs(level(band: band, age: 6) - now) < 1
      && abs(level(band: band, age: 12) - now) < 1
  }
}
