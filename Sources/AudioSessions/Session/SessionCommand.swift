/// The return value of a session's watcher: continue or stop.
public enum SessionCommand: Sendable {
  /// Continues the session.
  case proceed
  /// Ends the session for this reason and finalises everything.
  case stop(StopReason)
}
