/// A manual page as roff, in the macros of man(7).
struct Roff {
  private(set) var lines: [String] = []
  /// Words in capitals that stand for something: `FILE`.
  private let placeholders: Set<String>

  /// The page `name` of section 1; `source` is what it belongs to.
  init(_ name: String, date: String, source: String, placeholders: Set<String>) {
    self.placeholders = placeholders
    lines = [".TH \(name.uppercased()) 1 \(date) \"\(source)\" \"User Commands\""]
  }

  mutating func section(_ title: String) { lines.append(".SH \(title)") }

  mutating func subsection(_ title: String) { lines.append(".SS \(title)") }

  /// A paragraph; between backquotes stands what is typed.
  mutating func paragraph(_ text: String) {
    beginParagraph()
    add(text)
  }

  /// Behind a heading one has begun.
  private mutating func beginParagraph() {
    guard let last = lines.last, !last.hasPrefix(".S") else { return }
    lines.append(".PP")
  }

  /// The line below NAME, as programs that list pages read it.
  mutating func name(_ name: String, _ purpose: String) {
    let line = "\(Self.escaped(name, isCode: true)) \\- \(Self.escaped(purpose, isCode: false))"
    lines += TextLines(line, width: 78)
  }

  /// A form of the command: the words of `command` as they are typed, `rest` as it stands for
  /// others.
  mutating func synopsis(_ command: String, _ rest: String) {
    beginParagraph()
    lines.append("\\fB\(Self.escaped(command, isCode: true))\\fR \(rest)")
  }

  /// A term that is typed as it stands, and what is said of it.
  mutating func item(_ term: String, _ text: String) {
    item(words: [term], value: nil, text)
  }

  /// An option by its words, its value, and what is said of it.
  mutating func item(words: [String], value: String?, _ text: String) {
    lines.append(".TP")
    let names = words.map { "\\fB\(Self.escaped($0, isCode: true))\\fR" }.joined(separator: ", ")
    lines.append(names + (value.map { " \\fI\(Self.escaped($0, isCode: true))\\fR" } ?? ""))
    add(text)
  }

  /// What is typed, line by line, below what is said of it.
  mutating func example(_ purpose: String, _ commands: [String]) {
    if !purpose.isEmpty { paragraph(purpose) }
    lines += [".PP", ".RS 4", ".EX"]
    lines += commands.map { Self.line(Self.escaped($0, isCode: true)) }
    lines += [".EE", ".RE"]
  }

  /// Something that stands for what is typed, and what is said of it.
  mutating func item(placeholder: String, _ text: String) {
    lines += [".TP", "\\fI\(placeholder)\\fR"]
    add(text)
  }

  /// `text` in lines of words.
  private mutating func add(_ text: String) {
    lines += TextLines(inline(text), width: 78).map(Self.line)
  }

  /// The same line so that roff takes it for text.
  private static func line(_ text: String) -> String {
    text.hasPrefix(".") || text.hasPrefix("'") ? "\\&" + text : text
  }

  /// `text` with what is typed in bold and what stands for something in italics.
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
      // A page and its section, man(1), keep their bracket.
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
      // A page and its section: not to be hyphenated.
      let name = "\\%" + Self.escaped(core[..<bracket], isCode: true)
      shown = "\\fB\(name)\\fR" + core[bracket...]
    }
    return Self.escaped(head, isCode: false) + shown + Self.escaped(tail, isCode: false)
  }

  /// Whether hyphens in `word` join words.
  private static func isPlain(_ word: Substring) -> Bool {
    word.first?.isLetter == true && word.allSatisfy { $0 == "-" || $0.isLetter }
  }

  /// `text` so that roff prints it as it stands; hyphens in code are those that shells read.
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
