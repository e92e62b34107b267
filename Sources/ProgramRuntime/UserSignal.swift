/// A signal with a meaning for the program, named after its effect on a recording.
package enum UserSignal: Sendable, Equatable {
  /// SIGINT, SIGTERM or SIGHUP: finalise the recording and end.
  case end
  /// SIGUSR1: start the next file.
  case split
  /// SIGUSR2: set a marker.
  case mark
}
