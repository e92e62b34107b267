import CProgram

/// Handling of the signals that end the program, for the time when nothing watches for them. Any
/// thread but the audio thread.
package enum ProgramSignals {
  /// Makes SIGINT, SIGTERM and SIGHUP, unless they are ignored, end the program at once with
  /// `status`, after writing `sentence` to standard error and `events` to standard output.
  package static func endProgram(status: Int32, sentence: String, events: String) {
    cprogram_end_on_signals(status, sentence, events)
  }

  /// Sets whether a panel is drawn on the terminal at standard error, from the cursor on. If so, it
  /// is erased before Ctrl-Z stops the program.
  package static func eraseAtStop(isDrawn: Bool) { cprogram_erase_at_stop(isDrawn) }

  /// Sets whether the terminal at standard error marks pasted text (bracketed paste). If so, it
  /// stops doing so before Ctrl-Z stops the program, and does it again afterwards.
  package static func unmarkPastesAtStop(isMarked: Bool) {
    cprogram_unmark_pastes_at_stop(isMarked)
  }
}
