import CProgram

/// How signals end the program while they are not watched for.
public enum ProgramSignals {
  /// From now on SIGINT, SIGTERM and SIGHUP end it at once with `status`, where they are not ignored:
  /// `sentence` goes to standard error before, and `event` to standard output.
  public static func endProgram(status: Int32, sentence: String, event: String) {
    cprogram_end_on_signals(status, sentence, event)
  }
}
