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
