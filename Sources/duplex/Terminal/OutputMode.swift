import RealtimeAudio

/// The output mode of the running command, which is set once, when its words are parsed.
struct OutputMode: Sendable {
  /// Whether events are printed on standard output.
  var json = false
  /// Whether only errors are printed on standard error.
  var quiet = false
  /// Whether no progress is shown.
  var isTerse: Bool { json || quiet }
  /// The exit status if the program is stopped before it has a result.
  var stoppedStatus = ExitStatus.done

  private static let chosen = MutexBox(OutputMode())

  /// The output mode of the running command.
  static var current: OutputMode {
    get { chosen.withLock { $0 } }
    set { chosen.withLock { $0 = newValue } }
  }
}
