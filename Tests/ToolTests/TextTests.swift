import Testing

@testable import duplex

@Suite struct TextTests {
  @Test(arguments: [
    ("one two three", 20, "one two three"), ("one two three", 13, "one two three"),
    ("one two three", 7, "one two\n  three"), ("  one two three", 9, "  one two\n    three"),
    ("one  two three four", 10, "one  two\n  three\n  four"),
    ("/a/long/path is here", 8, "/a/long/path\n  is\n  here"), ("/a/long/path", 8, "/a/long/path"),
    ("", 8, ""), ("          ", 4, "          "),
  ])
  func `a line is broken between words`(text: String, columns: Int, expected: String) {
    #expect(text.wrapped(to: columns) == expected)
  }

  @Test(arguments: [
    (-200.0, "-inf"), (-Double.infinity, "-inf"), (-199.94, "-199.9"), (-6, "-6"), (0, "0"),
  ])
  func `the level of silence is minus infinity`(level: Double, expected: String) {
    #expect(level.shownLevel == expected)
  }
}
