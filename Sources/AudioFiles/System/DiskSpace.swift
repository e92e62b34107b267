import Glibc

/// Room on a disk.
public enum DiskSpace {
  /// Bytes that may still be written on the disk of `path`; nil where that cannot be told.
  public static func freeByteCount(at path: String) -> Int? {
    guard let status = try? FileSystem.room(at: path), status.f_blocks > 0 else { return nil }
    return Int(clamping: status.f_bavail).multipliedReportingOverflow(by: Int(status.f_frsize))
      .partialValue
  }
}

/// The folder that a file is to be made in.
public enum OutputFolder {
  /// Throws `.cannotCreate` or `.permissionDenied` where no file can be made beside `path`.
  public static func check(for path: String) throws(FileFailure) {
    let folder = FileName.folder(of: path)
    do throws(SystemError) {
      guard FileStatus(try FileSystem.status(of: folder)).isFolder else {
        throw SystemError(number: ENOTDIR)
      }
      try FileSystem.checkAccess(folder, W_OK | X_OK)
    } catch {
      throw .creating(path, error)
    }
  }

  /// Whether both paths name one file, or would.
  public static func isSame(_ one: String, _ other: String) -> Bool {
    if let first = FileIdentity(of: one), let second = FileIdentity(of: other) {
      return first == second
    }
    let folders = [one, other].map { FileIdentity(of: FileName.folder(of: $0)) }
    return FileName.last(of: one).utf8.elementsEqual(FileName.last(of: other).utf8)
      && folders[0] == folders[1]
  }
}

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

/// Standard input, output and error.
public enum StandardStreams {
  /// Occupies those that were closed when the program was started, so that no file of ours gets
  /// their number: what is read from or written to them fails as before, but where all three were
  /// closed, as for a daemon, which wants nothing printed. Before any file is opened.
  public static func occupyClosed() {
    let streams = [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO]
    let closed = streams.filter { fcntl($0, F_GETFD) < 0 }
    for descriptor in closed {
      let access = descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY
      // The lowest free number is this one.
      _ = open("/dev/null", closed == streams ? O_RDWR : access)
    }
  }
}
