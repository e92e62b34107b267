// Audio thread.

import AudioBasics

/// The levels of four bands over the last five seconds, and what a feedback loop looks like in
/// them: the same rise in dB again and again, or a loudness that stands.
struct LevelHistory: ~Copyable {
  private var levels: SampleBuffer
  private var gains: SampleBuffer
  private var next = 0
  /// Lines through the levels of the last 128, 256, 512, 1024, 2048 and 4096 ms: a loop of +0.1 dB that takes 62 ms
  /// grows by 1.6 dB a second. The last two take every eighth hop.
  private var lines = silentLines()
  private static var capacity: Int { @_noLocks get { 2048 } }
  /// The level of silence, in dBFS.
  private static var silence: Float { @_noLocks get { -200 } }
  /// dB by which what grows rises at least. What begins in digital silence rises by more than the
  /// most, and is no straight line.
  private static var leastRise: Float { @_noLocks get { 6 } }
  private static var mostRise: Float { @_noLocks get { 120 } }

  init() {
    levels = SampleBuffer(frameCount: Self.capacity, channelCount: 4)
    gains = SampleBuffer(frameCount: Self.capacity, channelCount: 1)
    clear()
  }

  @_noLocks
  private static func silentLines() -> InlineArray<6, RunningLine> {
    InlineArray { RunningLine(length: length($0) / step($0), value: Double(silence)) }
  }

  /// Hops of a line, and from one of its values to the next.
  @_noLocks
  private static func length(_ line: Int) -> Int { 48 << line }
  @_noLocks
  private static func step(_ line: Int) -> Int { line < 4 ? 1 : 8 }

  /// How many of the lines have a value at the hop in that place.
  @_noLocks
  private static func lineCount(at place: Int) -> Int { place & 7 == 0 ? 6 : 4 }

  /// Forgets everything.
  @_noLocks
  mutating func clear() {
    var index = 0
    while index < levels.sampleCount {
      levels[index] = Self.silence
      index &+= 1
    }
    lines = Self.silentLines()
  }

  /// Adds a hop, which the limiters leave `gain` dB of.
  @_noLocks
  mutating func add(_ hop: SIMD4<Float>, gain: Float) {
    let newest = RunningLine.rounded(hop)
    let count = Self.lineCount(at: next &+ 1)
    var index = 0
    while index < count {
      let oldest = levels.fourSamples(at: place(age: Self.length(index) &- 1))
      lines[index].replace(SIMD4<Double>(oldest), with: SIMD4<Double>(newest))
      index &+= 1
    }
    next = (next &+ 1) & (Self.capacity &- 1)
    gains[next] = gain
    levels.setFourSamples(newest, at: place(age: 0))
  }

  /// Where the levels of `age` hops ago are.
  @_noLocks @inline(__always)
  private func place(age: Int) -> Int {
    ((next &- age) & (Self.capacity &- 1)) &* 4
  }

  /// A band's level `age` hops ago.
  @_noLocks
  func level(band: Int, age: Int) -> Float {
    levels[place(age: age) &+ band]
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

  /// The growth of each band in dB a hop, where it is that of a loop: a straight line in dB for the
  /// last 128 ms to 4096 ms, by at least 6 dB, but for `spread` dB; 0 where it is none.
  @_noLocks
  func growths(spread: Float) -> SIMD4<Float> {
    let now = levels.fourSamples(at: place(age: 0))
    let leastRise = SIMD4(repeating: Self.leastRise)
    let none = SIMD4<Float>(repeating: 0)
    var growths = none
    let count = Self.lineCount(at: next)
    var index = 0
    while index < count {
      let (length, step) = (Self.length(index), Self.step(index))
      let rises = now - levels.fourSamples(at: place(age: length &- step))
      let isRising = (rises .> leastRise) .& (rises .< SIMD4(repeating: Self.mostRise))
      // Few bands rise, and only those are worth a closer look.
      if isRising != SIMDMask(repeating: false) {
        let (slopesOfSteps, rests) = lines[index].fits()
        let slopes = slopesOfSteps * (1 / Float(step))
        let rise = slopes * SIMD4(repeating: Float(length))
        // What speech and struck strings do is never so straight.
        let relative = SIMD4(repeating: 0.03) * rise
        let bounds = relative.replacing(
          with: spread, where: relative .< SIMD4(repeating: spread))
        let isGrowth = isRising .& (rise .> leastRise) .& (rests .< bounds * bounds)
        growths.replace(with: slopes, where: isGrowth .& (growths .== none))
      }
      index &+= 1
    }
    return growths
  }

  /// Whether a band is about as loud as it was `hops` hops ago, and half of them ago.
  @_noLocks
  func stands(band: Int, hops: Int) -> Bool {
    let now = level(band: band, age: 0) + 2
    return now > level(band: band, age: hops) && now > level(band: band, age: hops / 2)
  }
}
