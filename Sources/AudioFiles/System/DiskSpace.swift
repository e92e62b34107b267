import Glibc

/// The free space on a disk. Any thread but the audio thread.
package struct DiskSpace {
  /// The disk's device number.
  package let disk: UInt
  /// The number of bytes that can still be written.
  package let freeByteCount: Int

  /// Reads the free space on the disk of `path`; nil if it cannot be determined.
  package init?(at path: String) {
    guard let room = try? FileSystem.room(at: path), room.f_blocks > 0,
      let status = try? FileSystem.status(of: path)
    else { return nil }
    disk = UInt(status.st_dev)
    freeByteCount = Self.byteCount(blocks: room.f_bavail, of: room.f_frsize)
  }

  /// Returns whether the disk of `path` has free space, but its table of files is full.
  static func holdsNoMoreFiles(at path: String) -> Bool {
    guard let room = try? FileSystem.room(at: path) else { return false }
    return room.f_files > 0 && room.f_favail == 0 && room.f_bavail > 0
  }

  /// Returns the bytes in `blocks` blocks of `size` bytes; the largest integer if there are more,
  /// as unlimited network disks report.
  static func byteCount(blocks: UInt, of size: UInt) -> Int {
    let (count, isTooMuch) = blocks.multipliedReportingOverflow(by: size)
    return isTooMuch ? .max : Int(clamping: count)
  }
}
