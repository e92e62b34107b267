import ProgramRuntime

extension StringProtocol {
  /// The number of columns of the text in a terminal.
  var columns: Int {
    utf8.allSatisfy { $0 < 0x80 } ? utf8.count : reduce(0) { $0 + $1.columns }
  }

  /// Returns the longest prefix that needs at most `columns` columns.
  func prefix(columns: Int) -> SubSequence {
    var rest = columns
    return prefix { character in
      rest -= character.columns
      return rest >= 0
    }
  }
}

extension Character {
  /// The number of columns in a terminal: two for an ideograph or a pictograph, none for an accent.
  var columns: Int {
    // A character that is composed of several scalars is drawn as one.
    isASCII ? 1 : min(2, unicodeScalars.reduce(0) { $0 + $1.columns })
  }
}
