// Audio thread.

import AudioBasics

/// Tells what grows as a feedback loop does, by the same rise in dB again and again: straight lines
/// through the latest levels of four bands, of the last 128, 256, 512, 1024, 2048 and 4096 ms,
/// since a loop of +0.1 dB that takes 62 ms grows by 1.6 dB a second. The last two take every
/// eighth hop.
///
/// What only reads the lines is `mutating`, too: that works where they lie, while each call of what
/// is not would first copy all of them.
struct GrowthLines: BitwiseCopyable {
  private typealias Lines = InlineArray<6, RunningLine>
  /// dB by which what grows rises at least. What begins in digital silence rises by more than the
  /// most, and is no straight line.
  private static var leastRise: Float { @_noLocks get { 6 } }
  private static var mostRise: Float { @_noLocks get { 120 } }

  private var lines = silentLines()

  @_noLocks
  init() {}

  @_noLocks
  private static func silentLines() -> Lines {
    InlineArray { RunningLine(length: length($0) / step($0), value: Double(LevelHistory.silence)) }
  }

  /// Hops of a line, and from one of its values to the next.
  @_noLocks
  private static func length(_ line: Int) -> Int { 48 << line }
  @_noLocks
  private static func step(_ line: Int) -> Int { line < 4 ? 1 : 8 }

  /// How many of the lines have a value at the hop in that place.
  @_noLocks
  private static func lineCount(at place: Int) -> Int { place & 7 == 0 ? Lines.count : 4 }

  /// All lines are those of silence.
  @_noLocks
  mutating func clear() { lines = Self.silentLines() }

  /// Adds the latest hop of `history`.
  @_noLocks
  mutating func addLatest(of history: borrowing LevelHistory) {
    let newest = SIMD4<Double>(history.levels(age: 0))
    let count = Self.lineCount(at: history.newest)
    var index = 0
    while index < count {
      let oldest = SIMD4<Double>(history.levels(age: Self.length(index)))
      lines[index].replace(oldest, with: newest)
      index &+= 1
    }
  }

  /// The growth of each band in dB a hop at the latest hop of `history`, where it is that of a
  /// loop: a straight line in dB for the last 128 ms to 4096 ms, by at least 6 dB, but for `spread`
  /// dB; 0 where it is none.
  @_noLocks
  mutating func growths(of history: borrowing LevelHistory, spread: Float) -> SIMD4<Float> {
    let now = history.levels(age: 0)
    let leastRise = SIMD4(repeating: Self.leastRise)
    let none = SIMD4<Float>(repeating: 0)
    var growths = none
    let count = Self.lineCount(at: history.newest)
    var index = 0
    while index < count {
      let (length, step) = (Self.length(index), Self.step(index))
      let rises = now - history.levels(age: length &- step)
      let isRising = (rises .> leastRise) .& (rises .< SIMD4(repeating: Self.mostRise))
      // Few bands rise, and only those are worth a closer look.
      if any(isRising) {
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
}
