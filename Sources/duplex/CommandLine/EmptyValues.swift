/// Options whose value is the empty text, as in `--title=`.
extension CommandWords {
  /// Returns `words` with each option that ends in `=` and its empty value as two words: the parser
  /// would read the next word as the value.
  func separatingEmptyValues(_ words: [String]) -> [String] {
    guard let command, words.contains(where: { $0.hasPrefix("-") && $0.hasSuffix("=") }) else {
      return words
    }
    let options = commands.arguments(of: command)
    var result: [String] = []
    for (index, word) in words.enumerated() {
      if word == "--" { return result + words[index...] }
      let isValue = result.last.flatMap(options.named)?.takesAnyWord == true
      result += isValue ? [word] : Self.separated(word, options)
    }
    return result
  }

  /// Returns `--title=` as `--title` and an empty word, and `-qd=` as `-q`, `-d` and an empty word;
  /// any other word unchanged.
  private static func separated(_ word: String, _ options: [CommandArgument]) -> [String] {
    let name = String(word.prefix { $0 != "=" })
    guard name.hasPrefix("-"), word == name + "=" else { return [word] }
    if let option = options.named(name) { return option.takesValue ? [name, ""] : [word] }
    guard !name.hasPrefix("--"), let letter = name.last, options[letter]?.takesValue == true,
      name.dropFirst().dropLast().allSatisfy({ options[$0]?.takesValue == false })
    else { return [word] }
    return [String(name.dropLast()), "-\(letter)", ""]
  }

  /// Throws if one of `words`, whose empty values are separated, gives an empty name of a file or
  /// a device to an option, or an empty value to an option that has none.
  func refuseEmptyValues(in words: [String]) throws(ToolFailure) {
    guard let command, words.contains(where: { $0.isEmpty || $0.hasSuffix("=") }) else { return }
    let options = commands.arguments(of: command)
    var index = 1
    while index < words.count, words[index] != "--" {
      let word = words[index]
      index += 1
      guard let option = options.named(word) else {
        let name = String(word.dropLast())
        guard word.hasSuffix("="), options.named(name)?.takesValue == false else { continue }
        throw Self.valueOfFlag(name)
      }
      guard option.takesValue, index < words.count else { continue }
      if words[index].isEmpty, let hint = Self.hint(about: option) {
        throw ToolFailure.usage(
          "The value '' is invalid for '\(word) <\(option.valueName)>'.", hint: hint)
      }
      if option.takesAnyWord || !words[index].hasPrefix("-") { index += 1 }
    }
  }

  /// Returns the hint for an option whose value is text that must not be empty; nil for other
  /// options, whose commands check the value.
  private static func hint(about option: CommandArgument) -> String? {
    if option.longNames.contains("also-play") { return "`duplex devices` lists the devices." }
    return option.valueName == "file" ? "Name a file." : nil
  }
}
