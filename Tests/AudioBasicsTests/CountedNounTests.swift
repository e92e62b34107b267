import AudioBasics
import Testing

@Suite struct CountedNounTests {
  @Test(arguments: [(0, "0 frames"), (1, "1 frame"), (2, "2 frames"), (-1, "-1 frames")])
  func `a noun is plural unless there is one`(count: Int, expected: String) {
    #expect(count.counted("frame") == expected)
  }
}
