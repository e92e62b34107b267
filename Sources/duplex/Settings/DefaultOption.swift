import RealtimeAudio

/// An option that the user did not write, but has set for all runs.
struct DefaultOption: Sendable {
  /// Its long name, without dashes.
  let option: String
  /// Its value, or values, as they were set.
  let value: String
  /// The variable or the file that sets it.
  let source: String
  /// The line in the file.
  let line: Int?
  /// The words for the parser.
  let words: [String]

  /// For events.
  var json: JSON {
    .object([
      "option": .string(option), "value": .string(value), "source": .string(source),
      "line": line.map { .integer($0) } ?? .null,
    ])
  }

  /// Where it is set, for sentences.
  var place: String { line.map { "\(source), line \($0)" } ?? source }

  private static let applied = MutexBox<[DefaultOption]>([])

  /// Those of the command that runs.
  static var current: [DefaultOption] {
    get { applied.withLock { $0 } }
    set { applied.withLock { $0 = newValue } }
  }
}
