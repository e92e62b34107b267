import CProgram

/// Handling of the signals that end the program, for the time when nothing watches for them. Any
/// thread but the audio thread.
package enum ProgramSignals {
  /// Makes SIGINT, SIGTERM and SIGHUP, unless they are ignored, end the program at once with
  /// `status`, after writing `sentence` to standard error and `event` to standard output.
  package static func endProgram(status: Int32, sentence: String, event: String) {
    cprogram_end_on_signals(status, sentence, event)
  }

  /// Sets whether a panel is drawn on the terminal at standard error, from the cursor on. If so, it
  /// is erased before Ctrl-Z stops the program.
  package static func eraseAtStop(isDrawn: Bool) { cprogram_erase_at_stop(isDrawn) }
}
