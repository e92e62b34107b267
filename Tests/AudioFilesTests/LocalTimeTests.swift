import AudioFiles
import Testing

@Suite struct LocalTimeTests {
  private let time = LocalTime(1_000_000_000_000_000_000)

  @Test func `a pattern is expanded to a name`() {
    #expect(time.formatted("take-%Y-%m-%d.wav") == "take-2001-09-09.wav")
    #expect(time.formatted("100 %%.wav") == "100 %.wav")
  }

  @Test(arguments: ["%1000c.wav", "%9999999Y.wav", "%5000d"])
  func `a pattern that would become too long is not expanded`(
    pattern: String
  ) {
    #expect(time.formatted(pattern) == pattern)
  }
}
