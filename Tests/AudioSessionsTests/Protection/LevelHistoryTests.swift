import Glibc
import Testing

@testable import AudioSessions

@Suite struct LevelHistoryTests {
  /// Returns the measured growths of a level that rises by `rise` dB per hop, with a ripple of
  /// ±`ripple` dB, after `hops` hops: with a tolerance of 0.3 dB and of 2 dB from a straight line.
  /// The ripple is as fast as that of a level, which is the mean of four hops, can be.
  private func growths(
    hops: Int, rise: Float, ripple: Float = 0
  ) -> (strict: SIMD4<Float>, lenient: SIMD4<Float>) {
    var history = LevelHistory()
    var lines = GrowthLines()
    for hop in 0..<hops {
      let level = -50 + rise * Float(hop) + ((hop / 4).isMultiple(of: 2) ? ripple : -ripple)
      history.add(SIMD4(repeating: level), gain: 0)
      lines.add(history.levels(age: 0), at: history.newest)
    }
    return (lines.growths(of: history, spread: 0.3), lines.growths(of: history, spread: 2))
  }

  @Test func `a rise of 7 dB per second is found, as strict if it is straight`() {
    let straight = growths(hops: 400, rise: 7 / 375)
    let rough = growths(hops: 400, rise: 10 / 375, ripple: 1)
    #expect(abs(straight.strict[0] - 7 / 375) < 0.0001)
    #expect(rough.strict[0] == 0 && rough.lenient[0] > 0)
  }

  @Test func `a rise of 1.7 dB per second is found within four seconds`() {
    #expect(abs(growths(hops: 1600, rise: 1.7 / 375).strict[0] - 1.7 / 375) < 0.0001)
  }

  /// Returns the growth found after four seconds of a level that rises by `rise` dB per hop, and
  /// beats by ±2.5 dB in each second, where a growth by `expected` dB per hop is likely.
  private func growth(rise: Float, expected: Float) -> Float? {
    var history = LevelHistory()
    var lines = GrowthLines()
    for hop in 0..<1600 {
      let beat = 2.5 * Float(sin(2 * Double.pi * Double(hop) / 375))
      history.add(SIMD4(repeating: -80 + rise * Float(hop) + beat), gain: 0)
      lines.add(history.levels(age: 0), at: history.newest)
    }
    return lines.growth(of: history, band: 2, expected: expected)
  }

  @Test func `a level that beats while it rises grows if its growth is expected`() throws {
    let growth = try #require(self.growth(rise: 5.5 / 375, expected: 5 / 375))
    #expect(abs(growth - 5.5 / 375) < 1.5 / 375)
    #expect(self.growth(rise: 0, expected: 5 / 375) == nil)
    #expect(self.growth(rise: 1.5 / 375, expected: 5 / 375) == nil)
  }

  @Test func `a constant level has no growth`() {
    #expect(growths(hops: 400, rise: 0, ripple: 1).lenient == SIMD4(repeating: 0))
  }

  @Test func `the played level is the heard level minus the limiters' attenuation`() {
    var history = LevelHistory()
    for _ in 0..<8 { history.add(SIMD4(repeating: -50), gain: 0) }
    history.add(SIMD4(repeating: -50), gain: -4)
    // A level is the mean of four hops.
    let (now, before) = (history.playedLevel(band: 0, age: 0), history.playedLevel(band: 0, age: 1))
    #expect(now == -51 && before == -50)
  }

  @Test func `the highest level of a range of hops is found`() {
    var history = LevelHistory()
    for level in [-40, -20, -30, -35] as [Float] {
      history.add(SIMD4(repeating: level), gain: 0)
    }
    #expect(history.highest(band: 2, hops: 2, age: 0) == -30)
    #expect(history.highest(band: 2, hops: 2, age: 1) == -20)
    #expect(history.highest(band: 2, hops: 1, age: 3) == -40)
  }
}
