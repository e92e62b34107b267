import CProgram

extension StringProtocol {
  /// Columns that it takes in a terminal.
  var columns: Int {
    utf8.allSatisfy { $0 < 0x80 } ? utf8.count : reduce(0) { $0 + $1.columns }
  }

  /// As much of its beginning as takes at most `columns` columns.
  func prefix(columns: Int) -> SubSequence {
    var rest = columns
    return prefix { character in
      rest -= character.columns
      return rest >= 0
    }
  }
}

extension Character {
  /// Columns that it takes in a terminal: two of an ideograph or a pictograph, none of an accent.
  var columns: Int {
    // What is joined of several is drawn as one.
    isASCII ? 1 : min(2, unicodeScalars.reduce(0) { $0 + Int(cprogram_columns($1.value)) })
  }
}
