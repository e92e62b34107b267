import AudioBasics
import Testing

/// Tests of the characters that may be printed in a line on a terminal.
@Suite struct PrintableTextTests {
  @Test(arguments: [
    ("plain", "plain"), ("Größe, 音, 👩‍🚀, ❤️", "Größe, 音, 👩‍🚀, ❤️"), ("نامه‌ای", "نامه‌ای"),
    ("a\u{1B}]0;x\u{7}b", "a?]0;x?b"), ("a\nduplex: b", "a duplex: b"), ("a\r\n\tb", "a   b"),
    ("a\u{7F}b", "a?b"), ("a\u{9B}2Jb", "a?2Jb"), ("a\u{85}b\u{2028}c\u{2029}d", "a b c d"),
    ("a\u{202E}b\u{2066}c\u{200F}d\u{61C}e", "a?b?c?d?e"),
    ("a\u{200B}b\u{FEFF}c\u{AD}d\u{2060}e", "a?b?c?d?e"),
    ("pay\u{200D}pal", "pay?pal"), ("a\u{E0041}b", "a?b"), ("a\u{FFFE}b\u{1FFFF}c", "a?b?c"),
    ("a\u{3164}b", "a?b"), ("", ""),
  ])
  func `characters that control a terminal are replaced`(text: String, line: String) {
    #expect(text.printable == line)
  }

  @Test func `a line contains only printable scalars and joiners`() {
    let all = (0...0x10FFFF).compactMap(Unicode.Scalar.init)
    var text = ""
    for scalar in all { text.unicodeScalars.append(scalar) }
    let line = text.printable(atMost: .max)
    #expect(line.unicodeScalars.count == all.count)
    let joiners: [Unicode.Scalar] = ["\u{200C}", "\u{200D}"]
    #expect(line.unicodeScalars.allSatisfy { $0.isPrintable || joiners.contains($0) })
  }

  @Test func `a character has at most 30 marks`() {
    let marks = String(repeating: "\u{301}", count: 1000)
    #expect("a\(marks)b".printable == "a" + String(repeating: "\u{301}", count: 30) + "b")
    #expect("नि\u{301}".printable == "नि\u{301}")
  }

  @Test func `the middle of a long text is left out`() {
    let line = ("begin" + String(repeating: "\u{1B}", count: 100_000) + "end").printable(atMost: 40)
    #expect(line.unicodeScalars.count == 40)
    #expect(line.hasPrefix("begin??") && line.hasSuffix("??end") && line.contains("\u{2026}"))
    #expect(String(repeating: "a", count: 40).printable(atMost: 40).utf8.count == 40)
  }
}
