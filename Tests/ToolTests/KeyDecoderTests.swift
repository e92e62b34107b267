import Testing

@testable import duplex

/// Tests of keys as terminals send them.
@Suite struct KeyDecoderTests {
  /// Returns the keys in `text`, whose bytes arrive `gap` seconds apart.
  private func keys(_ text: String, gap: Double = 0) -> [Key] {
    var decoder = KeyDecoder()
    return text.utf8.enumerated().compactMap { decoder.key($1, at: Double($0) * gap) }
  }

  @Test func `characters are decoded as keys`() {
    #expect(keys("q +\t\n\r") == ["q", " ", "+", "\t", "\n", "\r"])
    #expect(keys("aüß€😀b") == ["a", "ü", "ß", "€", "😀", "b"])
  }

  @Test(arguments: [0, 0.2])
  func `arrow keys are decoded from control sequences, complete or byte by byte`(gap: Double) {
    #expect(keys("\u{1B}[A\u{1B}[B\u{1B}OC\u{1B}OD", gap: gap) == [.up, .down, .right, .left])
  }

  @Test(arguments: [
    // Home, Delete, F5, F10, Ctrl-right; F1 of the Linux console; Alt-q; Backspace, Ctrl-A.
    "\u{1B}[1~", "\u{1B}[3~", "\u{1B}[15~", "\u{1B}[21~", "\u{1B}[1;5C", "\u{1B}[[A", "\u{1B}q",
    "\u{7F}",
    "\u{01}",
    // The reply to a colour query, a key in kitty's protocol, mouse events, pasted text.
    "\u{1B}]11;rgb:ffff/ffff/ffff\u{07}", "\u{1B}]11;rgb:qqqq/r\u{1B}\\", "\u{1B}P1$r q\u{1B}\\",
    "\u{1B}[113u", "\u{1B}[M q ", "\u{1B}[<0;10;10M", "\u{1B}[200~quit r u\n\u{1B}[201~",
    "\u{1B}[" + String(repeating: "1;", count: 1000) + "q",
  ])
  func `an unknown sequence is consumed as a whole`(sequence: String) {
    #expect(keys(sequence + "r") == ["r"])
  }

  @Test(arguments: [0, 0.2, 3])
  func `the letters of pasted text are no keys, however slowly it arrives`(gap: Double) {
    var decoder = KeyDecoder()
    let bytes = "\u{1B}[200~quit q\u{1B}[201~r".utf8.enumerated()
    // The sequence before the text arrives at once.
    let keys = bytes.compactMap { decoder.key($1, at: Double(max(0, $0 - 5)) * gap) }
    #expect(keys == ["r"])
  }

  @Test(arguments: [
    "\u{1B}", "\u{1B}[A", "\u{1B}[20", "\u{1B}]0;", "\u{1B}[M", "\u{1B}P q", "ü\u{FF}",
    "\u{1B}[200~",
  ])
  func `a sequence in pasted text does not hide its end`(sequence: String) {
    #expect(keys("\u{1B}[200~q" + sequence + "\u{1B}[201~r") == ["r"])
  }

  @Test func `keys after pasted text without an end are decoded after a pause`() {
    var decoder = KeyDecoder()
    #expect("\u{1B}[200~q".utf8.compactMap { decoder.key($0, at: 0) } == [])
    #expect(decoder.key(UInt8(ascii: "q"), at: 6) == "q")
  }

  @Test func `keys after a lone Escape are decoded as usual`() {
    #expect(keys("\u{1B}[q", gap: 1) == ["[", "q"])
    #expect(keys("\u{1B}\u{1B}[A") == [.up])
  }

  @Test func `bytes that are not UTF-8 are skipped`() {
    var decoder = KeyDecoder()
    let bytes: [UInt8] = [0xFF, 0x80, 0xC3, UInt8(ascii: "q"), 0xE2, 0x82, 0xC3, 0xBC]
    #expect(bytes.compactMap { decoder.key($0, at: 0) } == ["q", "ü"])
  }
}
