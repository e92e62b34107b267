import Glibc

extension BinaryFloatingPoint {
  /// Whether a picture can show this measured value: it is a number, and no absurdly large one.
  ///
  /// The bound keeps what is worked out of it within the range of integers.
  var isDrawable: Bool { magnitude <= 1e9 }
}

/// Numbers as text.
enum NumberText {
  /// `value` rounded to `decimals` digits after the point.
  static func fixed(_ value: Double, decimals: Int) -> String {
    let digits = roundedDigits(value, decimals: min(max(decimals, 0), 9))
    let point = digits.text.index(digits.text.endIndex, offsetBy: -digits.decimals)
    let fraction = digits.text[point...]
    return (digits.isNegative ? "-" : "") + digits.text[..<point]
      + (fraction.isEmpty ? "" : "." + fraction)
  }

  /// `value` rounded to at most `decimals` digits after the point, without trailing zeros.
  static func shortest(_ value: Double, decimals: Int) -> String {
    var text = fixed(value, decimals: decimals)
    guard text.contains(".") else { return text }
    while text.hasSuffix("0") { text.removeLast() }
    if text.hasSuffix(".") { text.removeLast() }
    return text
  }

  /// A coordinate in a picture: a hundredth of a pixel is more than a screen can show.
  static func coordinate(_ value: Double) -> String {
    shortest(value, decimals: 2)
  }

  /// The digits after the point that show two significant ones of `value`: at least 1, at most 6.
  static func decimals(for value: Double) -> Int {
    guard value.isDrawable, value != 0 else { return 2 }
    return min(max(1 - Int(clamping: log10(value.magnitude).rounded(.down)), 1), 6)
  }

  /// `text` with the minus sign that typesetters use, as wide as a plus.
  static func typeset(_ text: String) -> String {
    text.hasPrefix("-") ? "\u{2212}" + text.dropFirst() : text
  }

  /// All digits of the rounded magnitude, and how many of them stand after the point.
  private static func roundedDigits(
    _ value: Double, decimals: Int
  ) -> (text: String, decimals: Int, isNegative: Bool) {
    guard value.magnitude <= 1e18 else { return ("0", 0, false) }
    // A double has 15 digits: what lies beyond them is not shown, and never overflows.
    var decimals = decimals
    while decimals > 0, value.magnitude * pow(10, Double(decimals)) > 1e15 { decimals -= 1 }
    let scaled = Int(rounding: value.magnitude * pow(10, Double(decimals)))
    let text = String(scaled)
    let zeros = String(repeating: "0", count: max(0, decimals + 1 - text.count))
    return (zeros + text, decimals, value < 0 && scaled != 0)
  }
}
