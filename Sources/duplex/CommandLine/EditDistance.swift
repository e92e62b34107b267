/// The edit distance between two words: the number of edits that turn one into the other.
enum EditDistance {
  /// Returns the nearest of `names`, ignoring case; nil if none is similar enough.
  static func nearest(to word: String, of names: [String]) -> String? {
    // A word longer than this is not a misspelled name, and comparing it would take long.
    guard word.count <= 64 else { return nil }
    let written = Array(word.lowercased())
    let near = names.map { ($0, between(written, Array($0.lowercased()))) }
      .filter { $1 <= max(1, max(word.count, $0.count) / 3) }
    return near.min { $0.1 < $1.1 }?.0
  }

  /// Returns the number of letters inserted, deleted, replaced or swapped with a neighbour (optimal
  /// string alignment).
  static func between(_ first: [Character], _ second: [Character]) -> Int {
    var before: [Int] = []
    var last = Array(0...second.count)
    for (row, letter) in first.enumerated() {
      var current = [row + 1]
      for (column, other) in second.enumerated() {
        var minimum = min(
          last[column + 1] + 1, current[column] + 1, last[column] + (letter == other ? 0 : 1))
        if row > 0, column > 0, letter == second[column - 1], first[row - 1] == other {
          minimum = min(minimum, before[column - 1] + 1)
        }
        current.append(minimum)
      }
      (before, last) = (last, current)
    }
    return last[second.count]
  }
}
