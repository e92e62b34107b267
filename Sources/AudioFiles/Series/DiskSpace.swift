import Glibc

/// Room on a disk.
public enum DiskSpace {
  /// Bytes that may still be written on the disk of `path`; nil where that cannot be told.
  public static func freeByteCount(at path: String) -> Int? {
    var status = statvfs()
    guard statvfs(path, &status) == 0, status.f_blocks > 0 else { return nil }
    return Int(clamping: status.f_bavail).multipliedReportingOverflow(by: Int(status.f_frsize))
      .partialValue
  }
}

/// The folder that a file is to be made in.
public enum OutputFolder {
  /// Throws `.cannotCreate` or `.permissionDenied` where no file can be made beside `path`.
  public static func check(for path: String) throws(FileFailure) {
    let folder = folder(of: path)
    guard let status = FileStatus(of: folder) else { throw .creating(path, .last) }
    guard status.isFolder else { throw .creating(path, SystemError(number: ENOTDIR)) }
    guard access(folder, W_OK | X_OK) == 0 else { throw .creating(path, .last) }
  }

  /// Whether both paths name one file, or would.
  public static func isSame(_ one: String, _ other: String) -> Bool {
    guard name(of: one) == name(of: other) else { return false }
    var first = stat()
    var second = stat()
    guard stat(folder(of: one), &first) == 0, stat(folder(of: other), &second) == 0 else {
      return one == other
    }
    return first.st_dev == second.st_dev && first.st_ino == second.st_ino
  }

  private static func name(of path: String) -> Substring {
    path.lastIndex(of: "/").map { path[path.index(after: $0)...] } ?? path[...]
  }

  /// Makes the folders that lead to `path`, where they are not there.
  static func make(for path: String) throws(SystemError) {
    let folder = folder(of: path)
    guard FileStatus(of: folder) == nil else { return }
    try make(for: folder)
    guard mkdir(folder, 0o777) == 0 || errno == EEXIST else { throw .last }
  }

  /// The folder that `path` is in.
  public static func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }
}

/// Removes files that are not needed any more.
public enum FileRemoval {
  /// Removes `path`. Throws `.permissionDenied` or `.writeFailed`; a file that is gone is fine.
  public static func remove(_ path: String) throws(FileFailure) {
    guard unlink(path) != 0, errno != ENOENT else { return }
    let error = SystemError.last
    throw FileFailure(
      error.isDenied ? .permissionDenied : .writeFailed,
      "\(path) cannot be removed: \(error.reason).", hint: "Remove it yourself to make room.")
  }

  /// How many bytes `path` holds; nil where there is no such file.
  public static func byteCount(of path: String) -> Int? {
    FileStatus(of: path)?.byteCount
  }
}
