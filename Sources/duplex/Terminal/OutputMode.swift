import RealtimeAudio

/// The output mode of the command that runs: chosen once, when its words are parsed.
struct OutputMode: Sendable {
  /// Events on standard output.
  var json = false
  /// Nothing but errors on standard error.
  var quiet = false
  /// Whether no person watches how it goes.
  var isTerse: Bool { json || quiet }
  /// How the program ends where it is stopped before it has anything to show.
  var stoppedStatus = ExitStatus.done

  private static let chosen = MutexBox(OutputMode())

  /// That of the command that runs.
  static var current: OutputMode {
    get { chosen.withLock { $0 } }
    set { chosen.withLock { $0 = newValue } }
  }
}
