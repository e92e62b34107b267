import Glibc

/// Removes files that are not needed any more.
public enum FileRemoval {
  /// Removes `path`. Throws `.permissionDenied` or `.writeFailed`; a file that is gone is fine.
  public static func remove(_ path: String) throws(FileFailure) {
    do throws(SystemError) {
      try FileSystem.remove(path)
    } catch {
      guard error.number != ENOENT else { return }
      throw FileFailure(
        error.isDenied ? .permissionDenied : .writeFailed,
        "\(path) cannot be removed: \(error.reason).", hint: "Remove it yourself to make room.")
    }
  }

  /// How many bytes `path` holds; nil where there is no such file.
  public static func byteCount(of path: String) -> Int? {
    FileStatus(of: path)?.byteCount
  }
}
