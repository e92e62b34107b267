// Audio thread.
import AudioBasics

/// The levels of four bands over the last second and more, and what a feedback loop looks like in
/// them: the same rise in dB again and again, or a loudness that stands.
struct LevelHistory: ~Copyable {
  private var levels: SampleBuffer
  private var gains: SampleBuffer
  private var next = 0
  private static var capacity: Int { @_noLocks get { 512 } }
  /// Hops that growth is looked for in, at least and at most.
  private static var shortest: Int { @_noLocks get { 48 } }
  private static var longest: Int { @_noLocks get { 384 } }
  /// dB by which what grows rises at least. What begins in digital silence rises by more than the
  /// most, and is no straight line.
  private static var leastRise: Float { @_noLocks get { 6 } }
  private static var mostRise: Float { @_noLocks get { 120 } }

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
      levels[index] = -200
      index &+= 1
    }
  }

  /// Adds a hop, which the limiters leave `gain` dB of.
  @_noLocks
  mutating func add(_ hop: SIMD4<Float>, gain: Float) {
    next = (next &+ 1) & (Self.capacity &- 1)
    gains[next] = gain
    levels.setFourSamples(hop, at: next &* 4)
  }

  /// A band's level `age` hops ago.
  @_noLocks
  func level(band: Int, age: Int) -> Float {
    levels[((next &- age) & (Self.capacity &- 1)) &* 4 &+ band]
  }

  /// Which bands rose enough over any of the times that `growth` looks at: few do, and only those
  /// are worth a closer look.
  @_noLocks
  func risingBands() -> SIMDMask<SIMD4<Int32>> {
    let now = levels.fourSamples(at: next &* 4)
    var rising = SIMDMask<SIMD4<Int32>>(repeating: false)
    var length = Self.shortest
    while length <= Self.longest {
      let place = (next &- length &+ 1) & (Self.capacity &- 1)
      let rise = now - levels.fourSamples(at: place &* 4)
      rising .|= (rise .> SIMD4(repeating: Self.leastRise))
        .& (rise .< SIMD4(repeating: Self.mostRise))
      length &*= 2
    }
    return rising
  }

  /// A band's level `age` hops ago as it was played.
  @_noLocks
  func playedLevel(band: Int, age: Int) -> Float {
    let mask = Self.capacity &- 1
    let place = next &- age
    return level(band: band, age: age) + 0.25
      * (gains[place & mask] + gains[(place &- 1) & mask] + gains[(place &- 2) & mask]
        + gains[(place &- 3) & mask])
  }

  /// The growth of a band in dB a hop, where it is that of a loop: a straight line in dB for the
  /// last 128, 256, 512 or 1024 ms, by at least 6 dB, but for `spread` dB.
  @_noLocks
  func growth(band: Int, spread: Float) -> Float? {
    var length = Self.shortest
    while length <= Self.longest {
      if let growth = growth(band: band, length: length, spread: spread) { return growth }
      length &*= 2
    }
    return nil
  }

  /// Fits a line to the last `length` levels.
  @_noLocks
  private func growth(band: Int, length: Int, spread: Float) -> Float? {
    let now = level(band: band, age: 0)
    let rise = now - level(band: band, age: length &- 1)
    guard rise > Self.leastRise && rise < Self.mostRise else { return nil }
    var sum: Float = 0
    var moment: Float = 0
    var squares: Float = 0
    let middle = Float(length &- 1) / 2
    var age = 0
    while age < length {
      let value = level(band: band, age: age) - now
      sum += value
      squares += value * value
      moment += value * (middle - Float(age))
      age &+= 1
    }
    let count = Float(length)
    let moments = count * (count * count - 1) / 12
    let slope = moment / moments
    let rest = (squares - sum * sum / count - slope * moment) / count
    // What speech and struck strings do is never so straight.
    let bound = max(spread, 0.03 * slope * count)
    return slope * count > Self.leastRise && rest < bound * bound ? slope : nil
  }

  /// Whether a band is about as loud as it was so many hops ago, and half as many.
  @_noLocks
  func stands(band: Int, hops: Int) -> Bool {
    let now = level(band: band, age: 0) + 2
    return now > level(band: band, age: hops) && now > level(band: band, age: hops / 2)
  }
}
