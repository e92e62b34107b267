/// The path that denotes standard input, and its name in messages.
enum StandardInput {
  static let path = "-"
  static let name = "standard input"

  /// Returns a sentence with a capital letter if it begins with the name.
  static func capitalized(_ sentence: String) -> String {
    sentence.hasPrefix(name + " ") ? "S" + sentence.dropFirst() : sentence
  }
}
