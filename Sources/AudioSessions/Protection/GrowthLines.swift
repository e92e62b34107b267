// Audio thread.

import AudioBasics
import AudioLevels

/// A detector of the growth of a feedback loop, which is the same rise in dB again and again. It
/// fits straight lines to the latest levels of four bands, over the last 128, 256, 512, 1024, 2048
/// and 4096 ms, since a loop of +0.1 dB with a round trip of 62 ms grows by 1.6 dB per second. The
/// lines use every second hop, and the last two of them every eighth hop.
struct GrowthLines: ~Copyable {
  /// The least and the greatest rise in dB of a growing band. A sound that begins in digital
  /// silence rises by more than the greatest, and not along a straight line.
  private static var minimumRise: Float { @_noLocks get { 6 } }
  private static var maximumRise: Float { @_noLocks get { 120 } }

  /// The sums of every second hop, and of every eighth hop.
  private var seconds = RegressionSums(capacity: 256, value: LevelHistory.silence)
  private var eighths = RegressionSums(capacity: 256, value: LevelHistory.silence)

  /// Returns the number of hops of a line; `step` returns that from one of its values to the next.
  @_noLocks
  private static func length(_ line: Int) -> Int { 48 << line }
  @_noLocks
  private static func step(_ line: Int) -> Int { line < 4 ? 2 : 8 }

  /// Returns the number of hops from the latest one back to the oldest value of a line.
  @_noLocks
  private static func age(_ line: Int) -> Int { length(line) &- step(line) }

  /// Returns how many of the lines have a value at the hop with the index `offset`.
  @_noLocks
  private static func lineCount(at offset: Int) -> Int { offset & 7 == 0 ? 6 : 4 }

  /// Returns the lowest of the oldest values of the first four lines, or of all six lines.
  @_noLocks @inline(__always)
  private static func lowestStart(
    of history: borrowing LevelHistory, _ count: Int
  ) -> SIMD4<Float> {
    var lowest = SIMD4.lower(
      SIMD4.lower(history.levels(age: age(0)), history.levels(age: age(1))),
      SIMD4.lower(history.levels(age: age(2)), history.levels(age: age(3))))
    if count > 4 {
      lowest = SIMD4.lower(
        lowest, SIMD4.lower(history.levels(age: age(4)), history.levels(age: age(5))))
    }
    return lowest
  }

  /// Resets all lines to silence.
  @_noLocks
  mutating func clear() {
    seconds.fill(with: LevelHistory.silence)
    eighths.fill(with: LevelHistory.silence)
  }

  /// Returns whether growth is searched for at the latest hop of `history`: at every fourth hop.
  @_noLocks
  static func isDue(at history: borrowing LevelHistory) -> Bool {
    history.newest % HopLevels.levelHops == 0
  }

  /// Adds the levels of the hop with the index `hop`, if the lines use it.
  @_noLocks
  mutating func add(_ levels: SIMD4<Float>, at hop: Int) {
    guard hop & 1 == 0 else { return }
    seconds.add(levels)
    if hop & 7 == 0 { eighths.add(levels) }
  }

  /// Returns the growth of each band in dB per hop at the latest hop of `history` if it is that of
  /// a loop: a straight line in dB over the last 128 ms to 4096 ms that rises by at least 6 dB,
  /// whose RMS residual is below `spread` dB or 3 % of the rise, whichever is more. Returns 0 for
  /// the other bands, and for all of them between two searches.
  @_noLocks
  func growths(of history: borrowing LevelHistory, spread: Float) -> SIMD4<Float> {
    guard Self.isDue(at: history) else { return SIMD4(repeating: 0) }
    let now = history.levels(age: 0)
    let minimumRise = SIMD4(repeating: Self.minimumRise)
    let none = SIMD4<Float>(repeating: 0)
    let count = Self.lineCount(at: history.newest)
    // Few bands rise, and only those need a line.
    guard any(now - Self.lowestStart(of: history, count) .> minimumRise) else { return none }
    var growths = none
    var index = 0
    while index < count {
      let rises = now - history.levels(age: Self.age(index))
      let isRising = (rises .> minimumRise) .& (rises .< SIMD4(repeating: Self.maximumRise))
      if any(isRising) {
        let (slopes, rests) = fits(index)
        let rise = slopes * SIMD4(repeating: Float(Self.length(index)))
        // The levels of speech and of struck strings never follow a straight line so closely.
        let relative = SIMD4(repeating: 0.03) * rise
        let bounds = relative.replacing(
          with: spread, where: relative .< SIMD4(repeating: spread))
        let isGrowth = isRising .& (rise .> minimumRise) .& (rests .< bounds * bounds)
        growths.replace(with: slopes, where: isGrowth .& (growths .== none))
      }
      index &+= 1
    }
    return growths
  }

  /// The rise in dB of the line that shows an expected growth.
  private static var expectedRise: Float { @_noLocks get { 8 } }

  /// Returns the growth of a band in dB per hop at the latest hop of `history`, where a growth by
  /// `expected` dB per hop is likely: the slope of the shortest line that would then rise by 8 dB,
  /// if it does, with an RMS residual of at most a third of the rise. Tones of similar frequencies
  /// may beat. Returns nil otherwise, and between two searches.
  @_noLocks
  func growth(of history: borrowing LevelHistory, band: Int, expected: Float) -> Float? {
    guard Self.isDue(at: history) else { return nil }
    var line = 0
    while line < 5 && expected * Float(Self.length(line)) < Self.expectedRise { line &+= 1 }
    guard line < Self.lineCount(at: history.newest),
      history.level(band: band, age: Self.age(line)) > LevelHistory.silence
    else { return nil }
    let fits = fits(line)
    let (slope, length) = (fits.slopes[band], Float(Self.length(line)))
    let rise = slope * length
    return rise > Self.expectedRise && fits.rests[band] < rise * rise / 9 ? slope : nil
  }

  /// Returns the slopes of a line in dB per hop, and its mean squared residuals, for each band.
  @_noLocks @inline(__always)
  private func fits(_ line: Int) -> (slopes: SIMD4<Float>, rests: SIMD4<Float>) {
    let (length, step) = (Self.length(line), Self.step(line))
    let (slopes, rests) =
      step == 2 ? seconds.fits(length: length / step) : eighths.fits(length: length / step)
    return (slopes * (1 / Float(step)), rests)
  }
}
