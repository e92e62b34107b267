/// Text as XML and HTML take it.
enum Markup {
  /// `text` with the characters that mean markup replaced, for content and quoted attributes.
  ///
  /// Control characters, which XML forbids however they are written, become U+FFFD.
  static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      case "'": result += "&#39;"
      case _ where isForbidden(scalar): result += "\u{FFFD}"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  /// An element with its attributes, in their order; `content` is markup already; nil for none.
  static func element(
    _ name: String, _ attributes: KeyValuePairs<String, String> = [:], content: String? = nil
  ) -> String {
    var tag = "<" + name
    for (key, value) in attributes { tag += " \(key)=\"\(escaped(value))\"" }
    guard let content else { return tag + "/>" }
    return tag + ">\(content)</\(name)>"
  }

  private static func isForbidden(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x09, 0x0A, 0x0D: false
    case 0..<0x20, 0x7F...0x9F, 0xFFFE, 0xFFFF: true
    default: false
    }
  }
}
