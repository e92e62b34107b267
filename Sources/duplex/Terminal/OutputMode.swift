import RealtimeAudio

/// How the command that runs talks: chosen once, when its words are parsed.
struct OutputMode: Sendable {
  /// Events on standard output.
  var json = false
  /// Nothing but errors on standard error.
  var quiet = false

  private static let chosen = Guarded(OutputMode())

  /// That of the command that runs.
  static var current: OutputMode {
    get { chosen.withLock { $0 } }
    set { chosen.withLock { $0 = newValue } }
  }
}

/// A command that can be told how to talk.
protocol TalkingCommand {
  var outputMode: OutputMode { get }
}
