import AudioFiles

/// Failures of a growing file that another program changed.
extension FileFailure {
  /// Returns the failure of a file that another program truncated or wrote to.
  static func modifiedByOthers(_ file: RecordedFile) -> FileFailure {
    FileFailure(
      .writeFailed,
      "\(file.path) was truncated or overwritten by another program while it was recorded: what it held, "
        + "\(file.frames) frames, may be lost.",
      hint: "Keep other programs away from files that are recorded.")
  }

  /// Returns the failure to write the file `path` again, which has lost its name for `cause`.
  static func notRestored(_ path: String, _ cause: String, _ failure: FileFailure) -> FileFailure {
    FileFailure(
      .writeFailed, "\(path) \(cause) while it is recorded. \(failure.message)",
      hint: "Create its folder and free some disk space: then the file is written again.")
  }
}
