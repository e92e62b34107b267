import ArgumentParser
import Testing

@testable import duplex

@Suite struct ManualTests {
  @Test func `every command has a page with examples that can be parsed`() throws {
    let pages = ManualPage.all(of: DuplexCommand.commands)
    #expect(pages.map(\.name) == ["duplex"] + DuplexCommand.commands.names.map { "duplex-\($0)" })
    for name in ["duplex"] + DuplexCommand.commands.names {
      let examples = try #require(ManualTexts.examples[name], "\(name)")
      #expect(examples.count >= 2, "\(name)")
      for command in examples.flatMap(\.commands) {
        // It fits into a page of 80 columns.
        #expect(command.count <= 69, "\(command)")
        for part in command.split(separator: "|") {
          let words = part.split(separator: " ").map { String($0.filter { $0 != "'" }) }
          guard words[0] == "duplex" else { continue }
          let written = try CommandWords(Array(words.dropFirst()), of: DuplexCommand.commands)
          #expect(throws: Never.self, "\(command)") { try DuplexCommand.parseAsRoot(written.words) }
        }
      }
    }
  }

  @Test func `a page lists each option of its command, and the main page has all sections`() {
    for (type, page) in zip(
      DuplexCommand.commands.types, ManualPage.all(of: DuplexCommand.commands).dropFirst())
    {
      let arguments = DuplexCommand.commands.arguments(of: type.configuration.commandName)
      for option in arguments.longNames where option != "version" {
        let shown = option.split(separator: "-").joined(separator: "\\-")
        #expect(page.text.contains("\\fB\\-\\-\(shown)\\fR"), "\(page.name) --\(option)")
      }
    }
    for (name, section) in [
      ("duplex", "EXIT STATUS"), ("duplex", "ENVIRONMENT"), ("duplex", "FILES"),
    ] {
      let page = ManualPage.all(of: DuplexCommand.commands).first { $0.name == name }
      #expect(page?.text.contains(".SH \(section)\n") == true)
    }
  }

  @Test func `control characters of roff are escaped`() {
    var roff = Roff("x", date: "2026-01-01", source: "x", placeholders: ["FILE"])
    roff.paragraph(".5 and 'so' go \\ to FILE, with --mix; a low-cut of -6.")
    #expect(
      roff.lines.suffix(2).joined(separator: "\n")
        == ".PP\n\\&.5 and \\(aqso\\(aq go \\(rs to \\fIFILE\\fR, with \\fB\\-\\-mix\\fR; a low-cut of "
        + "\\-6.")
  }
}
