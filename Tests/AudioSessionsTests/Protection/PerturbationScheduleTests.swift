import Testing

@testable import AudioSessions

@Suite struct PerturbationScheduleTests {
  /// Returns the delays after each of `count` failures, in hops.
  private func delays(_ count: Int, isGrowing: Bool, isExternal: Bool) -> [Int] {
    var schedule = PerturbationSchedule()
    return (0..<count).map { _ in
      schedule.fail(in: 1000, isGrowing: isGrowing, isExternal: isExternal)
      return schedule.nextHop - 1000
    }
  }

  @Test func `the delay until the next code grows with the failures, up to a limit`() {
    #expect(delays(4, isGrowing: true, isExternal: false) == [12, 48, 192, 192])
    #expect(
      delays(8, isGrowing: false, isExternal: false) == [3, 3, 12, 48, 192, 768, 3072, 3072])
  }

  @Test func `a sound that is certainly external counts as two failures`() {
    #expect(delays(5, isGrowing: false, isExternal: true) == [3, 48, 768, 3072, 3072])
  }
}
