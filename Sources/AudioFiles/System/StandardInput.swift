/// The path that denotes standard input, and its name in messages.
enum StandardInput {
  static let path = "-"
  static let name = "standard input"
}
