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
  func `a line is wrapped between words`(text: String, columns: Int, expected: String) {
    #expect(text.wrapped(to: columns) == expected)
  }

  @Test(arguments: [
    (-200.0, "-inf"), (-Double.infinity, "-inf"), (-199.94, "-199.9"), (-6, "-6"), (0, "0"),
  ])
  func `the level of silence is shown as -inf`(level: Double, expected: String) {
    #expect(level.shownLevel == expected)
  }

  @Test(arguments: [
    ("abc", 3), ("é", 1), ("e\u{301}", 1), ("日本", 4), ("🎸", 2), ("▌·█", 3), ("ｗ", 2),
  ])
  func `a character is as wide as a terminal draws it`(text: String, columns: Int) {
    #expect(text.columns == columns)
  }

  @Test func `wide characters are wrapped, truncated and padded by columns`() {
    #expect("日本 語日本 語".wrapped(to: 8) == "日本\n  語日本\n  語")
    #expect("日本語日本語".truncated(to: 9) == "日本語...")
    #expect("日本".padded(to: 6) == "日本  " && "日本".aligned(to: 6) == "  日本")
    #expect(Array(TextLines("日本 日本 日本", width: 9)) == ["日本 日本", "日本"])
  }
}
