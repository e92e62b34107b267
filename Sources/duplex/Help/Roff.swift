/// A manual page as roff, in the macros of man(7).
struct Roff {
  private(set) var lines: [String] = []
  /// Words in capitals that are placeholders, such as `FILE`.
  private let placeholders: Set<String>

  /// Begins the page `name` of section 1; `source` is the program and version that it belongs to.
  init(_ name: String, date: String, source: String, placeholders: Set<String>) {
    self.placeholders = placeholders
    lines = [".TH \(name.uppercased()) 1 \(date) \"\(source)\" \"User Commands\""]
  }

  mutating func section(_ title: String) { lines.append(".SH \(title)") }

  mutating func subsection(_ title: String) { lines.append(".SS \(title)") }

  /// Adds a paragraph. Text between backquotes is literal input.
  mutating func paragraph(_ text: String) {
    beginParagraph()
    add(text)
  }

  /// Begins a paragraph. After a heading none is needed.
  private mutating func beginParagraph() {
    guard let last = lines.last, !last.hasPrefix(".S") else { return }
    lines.append(".PP")
  }

  /// Adds the line below NAME, in the form that programs that list pages expect.
  mutating func name(_ name: String, _ purpose: String) {
    let line = "\(Self.escaped(name, isCode: true)) \\- \(Self.escaped(purpose, isCode: false))"
    lines += TextLines(line, width: 78)
  }

  /// Adds a form of the command: `command` is literal input, and `rest` consists of placeholders.
  mutating func synopsis(_ command: String, _ rest: String) {
    beginParagraph()
    lines.append("\\fB\(Self.escaped(command, isCode: true))\\fR \(rest)")
  }

  /// Adds a term that is literal input, and its description.
  mutating func item(_ term: String, _ text: String) {
    item(words: [term], value: nil, text)
  }

  /// Adds an option: its words, its value, and its description.
  mutating func item(words: [String], value: String?, _ text: String) {
    lines.append(".TP")
    let names = words.map { "\\fB\(Self.escaped($0, isCode: true))\\fR" }.joined(separator: ", ")
    lines.append(names + (value.map { " \\fI\(Self.escaped($0, isCode: true))\\fR" } ?? ""))
    add(text)
  }

  /// Adds the commands of an example, one per line, below their purpose.
  mutating func example(_ purpose: String, _ commands: [String]) {
    if !purpose.isEmpty { paragraph(purpose) }
    lines += [".PP", ".RS 4", ".EX"]
    lines += commands.map { Self.line(Self.escaped($0, isCode: true)) }
    lines += [".EE", ".RE"]
  }

  /// Adds a placeholder and its description.
  mutating func item(placeholder: String, _ text: String) {
    lines += [".TP", "\\fI\(placeholder)\\fR"]
    add(text)
  }

  /// Adds `text`, wrapped into lines.
  private mutating func add(_ text: String) {
    lines += TextLines(inline(text), width: 78).map(Self.line)
  }

  /// Returns `text`, escaped if roff would read the line as a request.
  private static func line(_ text: String) -> String {
    text.hasPrefix(".") || text.hasPrefix("'") ? "\\&" + text : text
  }

  /// Returns `text` with literal input in bold and placeholders in italics.
  private func inline(_ text: String) -> String {
    var isTyped = false
    return text.split(separator: "`", omittingEmptySubsequences: false).map { part in
      defer { isTyped.toggle() }
      guard !isTyped else { return "\\fB\(Self.escaped(part, isCode: true))\\fR" }
      return part.split(separator: " ", omittingEmptySubsequences: false).map(word)
        .joined(separator: " ")
    }.joined()
  }

  private func word(_ word: Substring) -> String {
    let head = word.prefix { $0 == "(" }
    var core = word.dropFirst(head.count)
    while let last = core.last, ".,;:)".contains(last), !core.hasSuffix("...") {
      // A page with its section, such as man(1), keeps its bracket.
      if last == ")", core.dropLast().contains("(") { break }
      core.removeLast()
    }
    let tail = word.dropFirst(head.count + core.count)
    let isOption =
      core.count > 1 && core.hasPrefix("-") && core.dropFirst().first?.isNumber == false
    var shown = Self.escaped(core, isCode: isOption || !Self.isPlain(core))
    if isOption {
      shown = "\\fB\(shown)\\fR"
    } else if placeholders.contains(String(core)) {
      shown = "\\fI\(shown)\\fR"
    } else if core.hasSuffix(")"), let bracket = core.firstIndex(of: "("),
      core[bracket...].dropFirst().first?.isNumber == true
    {
      // A page with its section is not hyphenated.
      let name = "\\%" + Self.escaped(core[..<bracket], isCode: true)
      shown = "\\fB\(name)\\fR" + core[bracket...]
    }
    return Self.escaped(head, isCode: false) + shown + Self.escaped(tail, isCode: false)
  }

  /// Returns whether all hyphens in `word` are ordinary hyphens between letters.
  private static func isPlain(_ word: Substring) -> Bool {
    word.first?.isLetter == true && word.allSatisfy { $0 == "-" || $0.isLetter }
  }

  /// Returns `text` so that roff prints it unchanged. Hyphens in code become the ASCII character
  /// that shells read.
  private static func escaped(_ text: some StringProtocol, isCode: Bool) -> String {
    var result = ""
    for character in text {
      switch character {
      case "\\": result += "\\(rs"
      case "'": result += "\\(aq"
      case "`": result += "\\(ga"
      case "^": result += "\\(ha"
      case "~": result += "\\(ti"
      case "\"": result += "\\(dq"
      case "-" where isCode: result += "\\-"
      default: result.append(character)
      }
    }
    return result
  }
}
