import Glibc

/// The removal of files that are not needed any more. Any thread but the audio thread.
package enum FileRemoval {
  /// Removes `path`. Throws `.permissionDenied` or `.writeFailed`; a missing file is not an error.
  package static func remove(_ path: String) throws(FileFailure) {
    do throws(SystemError) {
      try FileSystem.remove(path)
    } catch {
      guard error.number != ENOENT else { return }
      throw FileFailure(
        error.isDenied ? .permissionDenied : .writeFailed,
        "\(path) cannot be removed: \(error.reason).", hint: "Remove it yourself to make room.")
    }
  }

  /// Returns the size of `path` in bytes; nil if there is no such file.
  package static func byteCount(of path: String) -> Int? {
    FileStatus(of: path)?.byteCount
  }

  /// Returns whether `path` is a file, a folder or a link, even one that leads nowhere.
  package static func isTaken(_ path: String) -> Bool { FileSystem.isTaken(path) }
}
