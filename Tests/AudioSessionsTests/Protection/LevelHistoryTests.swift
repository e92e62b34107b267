import Testing

@testable import AudioSessions

@Suite struct LevelHistoryTests {
  /// A history of that many hops of what rises by `rise` dB a hop, give or take `ripple` dB.
  private func history(hops: Int, rise: Float, ripple: Float = 0) -> LevelHistory {
    var history = LevelHistory()
    for hop in 0..<hops {
      let level = -50 + rise * Float(hop) + (hop.isMultiple(of: 2) ? ripple : -ripple)
      history.add(SIMD4(repeating: level), gain: 0)
    }
    return history
  }

  @Test func `a rise of 7 dB a second is seen, where it is straight`() {
    let straight = history(hops: 400, rise: 7 / 375)
    let rough = history(hops: 400, rise: 10 / 375, ripple: 1)
    let growth = straight.growths(spread: 0.3)[0]
    let (strict, lenient) = (rough.growths(spread: 0.3)[0], rough.growths(spread: 2)[0])
    #expect(abs(growth - 7 / 375) < 0.0001 && strict == 0 && lenient > 0)
  }

  @Test func `a rise of 1.7 dB a second is seen within four seconds`() {
    let history = history(hops: 1600, rise: 1.7 / 375)
    #expect(abs(history.growths(spread: 0.3)[0] - 1.7 / 375) < 0.0001)
  }

  @Test func `what stands does not grow`() {
    let growths = history(hops: 400, rise: 0, ripple: 1).growths(spread: 2)
    #expect(growths == SIMD4(repeating: 0))
  }

  @Test func `what is played is what is heard without what the limiters take off`() {
    var history = history(hops: 8, rise: 0)
    history.add(SIMD4(repeating: -50), gain: -4)
    // A level is that of four hops.
    let (now, before) = (history.playedLevel(band: 0, age: 0), history.playedLevel(band: 0, age: 1))
    #expect(now == -51 && before == -50)
  }
}
