/// What stands for standard input among paths, and what messages call it.
enum StandardInput {
  static let path = "-"
  static let name = "standard input"
}
