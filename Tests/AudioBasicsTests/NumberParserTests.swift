import AudioBasics
import Testing

@Suite("Parsing of numbers")
struct NumberParserTests {
  @Test(
    arguments: [
      ("90", 90), ("1.5", 1.5), (".5", 0.5), ("90s", 90), ("500ms", 0.5), ("2m", 120),
      ("2min", 120), ("1h30m", 5400), ("1h30m15.5s", 5415.5), ("7d", 604_800), ("1w", 604_800),
      ("1:30", 90), ("0:01:30.5", 90.5), ("90:00", 5400), ("1000000000", 1e9), ("0", 0),
    ] as [(String, Double)])
  func `seconds are parsed in every form`(text: String, seconds: Double) {
    #expect(ParsedTime(text) == .seconds(seconds))
  }

  @Test func `a number of frames ends with an f`() {
    #expect(ParsedTime("48000f") == .frames(48000))
    #expect(ParsedTime("612.5f")?.frames(at: 44100) == 612.5)
    #expect(ParsedTime("48000f")?.seconds(at: 96000) == 0.5)
    #expect(ParsedTime("1.5")?.frameCount(at: 48000) == 72000)
  }

  @Test(arguments: [
    "", " ", "-1", "+1", "s", "f", ":", "1:", ":1", "1:60", "1:2:3:4", "1.5:30", "1m1h", "1h1h",
    "1h30",
    "nan", "inf", "1e3", "0x10", "1000000001", "1000000000000001f", "9223372036854775807f", "٣",
    "１",
    "5x", "1 s", String(repeating: "9", count: 100_000),
  ])
  func `text that is not a time, or a time that is too long, is refused`(text: String) {
    #expect(ParsedTime(text) == nil)
  }

  @Test func `only digits, a sign and a point are accepted in numbers`() {
    #expect(NumberParser.decimal("-6") == -6)
    #expect(NumberParser.decimal("+3.25") == 3.25)
    #expect(NumberParser.whole("-9223372036854775808") == .min)
    for text in ["", "-", ".", "1e3", "nan", "-inf", "0x1", "1.2.3", "--1", "1-", "٣"] {
      #expect(NumberParser.decimal(text) == nil)
    }
    for text in ["9223372036854775808", "1.0", String(repeating: "1", count: 1_000_000)] {
      #expect(NumberParser.whole(text) == nil)
    }
  }

  @Test func `rates may be given in kHz`() {
    #expect(NumberParser.wholeHertz("48k") == 48000)
    #expect(NumberParser.wholeHertz("44.1k") == 44100)
    #expect(NumberParser.wholeHertz("44.1kHz") == 44100)
    #expect(NumberParser.wholeHertz("22.05k") == 22050)
    #expect(NumberParser.wholeHertz("96000 ") == nil)
    #expect(NumberParser.wholeHertz("11025.5") == nil)
    #expect(NumberParser.wholeHertz("k") == nil)
  }

  @Test func `a day of frames at 768 kHz is converted to nanoseconds exactly`() {
    #expect(FrameTime.nanoseconds(of: 768_000 * 86400, at: 768_000) == 86_400_000_000_000)
    #expect(FrameTime.nanoseconds(of: 1, at: 48000) == 20833)
    #expect(abs(FrameTime.frames(in: 86_400_000_000_000, at: 48000) - 48000 * 86400) < 1e-3)
  }
}
