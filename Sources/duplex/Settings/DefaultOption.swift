import RealtimeAudio

/// An option that is set by a variable or a file instead of the command line.
struct DefaultOption: Sendable {
  /// The long name, without dashes.
  let option: String
  /// The value, or the values joined by commas, as they were set.
  let value: String
  /// The variable or the file that sets the option.
  let source: String
  /// The line in the file; nil for a variable.
  let line: Int?
  /// The words to be parsed.
  let words: [String]

  /// The fields for events.
  var fields: Fields {
    ["option": option, "value": value, "source": source, "line": line]
  }

  /// The place where the option is set, for messages.
  var location: String { line.map { "\(source), line \($0)" } ?? source }

  private var isDevice: Bool { option.hasSuffix("device") }

  /// Returns whether `failure` is about this option, or about the device that it names.
  private func isMeant(in failure: ToolFailure) -> Bool {
    let message = failure.message
    if message.contains("--\(option) ") { return true }
    // The name of a file may contain that of a device.
    guard isDevice, failure.fileKind == nil else { return false }
    let isSimulated = value.hasPrefix("sim:") && message.contains("simulated device")
    return isSimulated || message.contains(value)
  }

  /// Returns `failure` with hints to the places of the defaults that it is about, because the user
  /// did not type these options. A wrong usage may be due to any of them.
  static func naming(_ failure: ToolFailure) -> ToolFailure {
    let meant = current.filter { $0.isMeant(in: failure) }
    guard !meant.isEmpty else {
      let possible = current.filter { !$0.isDevice && !["json", "quiet"].contains($0.option) }
      guard failure.status == .usage, !possible.isEmpty else { return failure }
      let places = possible.map { "--\($0.option) (\($0.location))" }.joined(separator: ", ")
      return failure.adding(
        hint: "This run has defaults for \(places); --no-config leaves those of the file out.")
    }
    return failure.adding(
      hint: meant.map { "The default of --\($0.option) is set by \($0.location)." }
        .joined(separator: " "))
  }

  private static let applied = MutexBox<[DefaultOption]>([])

  /// The defaults of the running command.
  static var current: [DefaultOption] {
    get { applied.withLock { $0 } }
    set { applied.withLock { $0 = newValue } }
  }
}
