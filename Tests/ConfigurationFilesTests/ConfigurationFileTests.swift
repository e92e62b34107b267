import ConfigurationFiles
import Testing

@Suite struct ConfigurationFileTests {
  @Test func `values are parsed with their table, line and kind`() throws {
    let file = try ConfigurationFile(
      parsing: """
        device = "usb"   # the one on the desk
        period-size = 64

        [record]
        gain = -6.5
        monitor = true
        ["hw:1,0"]
        capture-channels = [3, 4]
        """)
    let entries = file.entries
    #expect(entries.map(\.key) == ["device", "period-size", "gain", "monitor", "capture-channels"])
    #expect(entries.map(\.table) == ["", "", "record", "record", "hw:1,0"])
    #expect(entries.map(\.line) == [1, 2, 5, 6, 8])
    #expect(entries.map(\.tableLine) == [0, 0, 4, 4, 7])
    #expect(entries.map(\.isList) == [false, false, false, false, true])
    #expect(entries.map(\.kind) == [.string, .number, .number, .boolean, .number])
    #expect(entries.map(\.values) == [["usb"], ["64"], ["-6.5"], ["true"], ["3", "4"]])
  }

  @Test func `dates and nested tables are distinguished from values`() throws {
    let file = try ConfigurationFile(parsing: "duration = 2026-11-24\n[a]\nb = { c = 1 }\n")
    #expect(file.entries.map(\.kind) == [.date, .nested])
    #expect(file.entries[0].values == ["2026-11-24"])
  }

  @Test func `arrays with one or no element are distinguished from values`() throws {
    let file = try ConfigurationFile(parsing: "a = [true]\nb = [\n]\nc = true\n")
    #expect(file.entries.map(\.key) == ["a", "b", "c"])
    #expect(file.entries.map(\.line) == [1, 2, 4])
    #expect(file.entries.map(\.kind) == [.boolean, .nested, .boolean])
    #expect(file.entries.map(\.isList) == [true, false, false])
  }

  @Test func `a time of day is a value in the form of the command line`() throws {
    let file = try ConfigurationFile(
      parsing: "a = 07:32:00\nb = 00:00:01.5\nc = 00:10:00.000000001\n")
    #expect(file.entries.map(\.kind) == [.time, .time, .time])
    #expect(file.entries.map(\.values) == [["7:32:00"], ["0:00:01.5"], ["0:10:00.000000001"]])
  }

  @Test(arguments: [
    ("device = usb", 1), ("a = 1\na = 2", 2), ("\n\n[record\n", 3), ("a = 1\n\u{0}", 2),
    ("= 3", 1), ("\u{7f}ELF", 1), ("[\u{e4}]", 1), ("a = 1\n\n[[%]]\nb = 2\n", 3), ("[=]\n", 1),
  ])
  func `text that is not TOML is refused with its line`(text: String, line: Int) {
    let failure = #expect(throws: ConfigurationFailure.self) {
      try ConfigurationFile(parsing: text)
    }
    #expect(failure?.line == line)
    #expect(failure?.message.isEmpty == false)
  }

  @Test(arguments: [
    ("device = usb", true), ("a = 1\ndevice = hw:1,0", true), ("device = 'usb'\n[", false),
    ("device: usb", false),
  ])
  func `text without quotes is told from other errors`(text: String, isText: Bool) {
    let failure = #expect(throws: ConfigurationFailure.self) {
      try ConfigurationFile(parsing: text)
    }
    #expect(failure?.isValueWithoutQuotes == isText)
  }

  @Test func `an empty text has no entries, and deep nesting is refused`() throws {
    #expect(try ConfigurationFile(parsing: "").entries.isEmpty)
    let deep = "a = " + String(repeating: "[", count: 100_000)
    #expect(throws: ConfigurationFailure.self) { try ConfigurationFile(parsing: deep) }
  }
}
