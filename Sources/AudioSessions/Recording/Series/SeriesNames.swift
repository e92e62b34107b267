import AudioFiles

/// The names of a recording's files, one after the other.
///
/// A pattern with a percent sign is one of strftime's: `note-%Y%m%d-%H%M%S.wav`, by the time of a
/// file's first frame. Any other is counted: `take.wav` gives `take-001.wav`, `take-002.wav`. A
/// name that was used or is taken gets a further number, `-2`, so that nothing is ever overwritten.
struct SeriesNames {
  private let pattern: String
  private let isSeries: Bool
  private var count = 0
  /// The highest number that a name got which was taken.
  private var numbers: [String: Int] = [:]

  /// Names after `pattern`. With `isSeries` false the first one is the pattern itself.
  init(_ pattern: String, isSeries: Bool) {
    self.pattern = pattern
    self.isSeries = isSeries
  }

  /// The name of the next file, which begins at `start` nanoseconds since 1970.
  mutating func next(at start: UInt64) -> String {
    count += 1
    if !isSeries, count == 1 { return pattern }
    if isSeries, pattern.contains("%") { return LocalTime(start).formatted(pattern) }
    let digits = String(count)
    return FileName.insert(
      "-" + String(repeating: "0", count: max(0, 3 - digits.count)) + digits, into: pattern)
  }

  /// `name`, or where that is taken the same with the first number that is not, from the last one
  /// that was given on.
  mutating func free(_ name: String, isTaken: (String) -> Bool) -> String {
    var path = name
    while isTaken(path) {
      let number = numbers[name, default: 1] + 1
      numbers[name] = number
      path = FileName.insert("-\(number)", into: name)
    }
    return path
  }
}
