import CLinuxFiles
import Glibc

/// The kernel's calls that take the name of a file: here names become bytes.
enum FileSystem {
  /// A descriptor of `path`.
  static func open(
    _ path: String, _ flags: Int32, mode: mode_t = 0o666
  ) throws(SystemError) -> Int32 {
    try check(path) { Glibc.open($0, flags | O_CLOEXEC, mode) }
  }

  /// A descriptor of a new file in `folder` that has no name.
  static func openUnnamed(in folder: String, mode: UInt32 = 0o666) throws(SystemError) -> Int32 {
    try check(folder) { linux_unnamed_file($0, mode) }
  }

  /// What `path` leads to, links followed.
  static func status(of path: String) throws(SystemError) -> stat {
    var status = stat()
    try check(path) { stat($0, &status) }
    return status
  }

  /// Whether there is anything of that name, a link to no file included.
  static func isTaken(_ path: String) -> Bool {
    var status = stat()
    return (try? check(path) { lstat($0, &status) }) != nil
  }

  /// The path of what `path` leads to, without links.
  static func resolve(_ path: String) throws(SystemError) -> String {
    let found = withBytes(of: path) { realpath($0, nil) }
    guard let found else { throw .last }
    defer { free(found) }
    return FileName.text(ofCString: found)
  }

  /// The folder that an open file is in, whatever that is called by now; the file itself need not
  /// have a name.
  static func folder(ofOpenFile descriptor: Int32) throws(SystemError) -> String {
    var bytes = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
    let count = readlink("/proc/self/fd/\(descriptor)", &bytes, Int(PATH_MAX))
    guard count > 0 else { throw .last }
    return FileName.folder(of: FileName.text(ofCString: bytes))
  }

  /// Whether this user may do `what` (`W_OK` and the like) with `path`.
  static func checkAccess(_ path: String, _ what: Int32) throws(SystemError) {
    try check(path) { access($0, what) }
  }

  static func remove(_ path: String) throws(SystemError) {
    try check(path) { unlink($0) }
  }

  /// Makes the folders that lead to `path`, where they are not there.
  static func makeFolders(of path: String) throws(SystemError) {
    for slash in path.utf8.indices.dropFirst() where path.utf8[slash] == UInt8(ascii: "/") {
      do throws(SystemError) {
        try check(String(path[..<slash])) { mkdir($0, 0o777) }
      } catch {
        guard error.number == EEXIST || error.number == EISDIR else { throw error }
      }
    }
  }

  /// Gives `old` the name `new`, in place of what has it.
  static func rename(_ old: String, to new: String) throws(SystemError) {
    try check(old) { old in withBytes(of: new) { Glibc.rename(old, $0) } }
  }

  /// Gives `old` the name `new`, unless something has it: in one step.
  static func renameToFree(_ old: String, to new: String) throws(SystemError) {
    try check(old) { old in withBytes(of: new) { linux_rename_to_free(old, $0) } }
  }

  /// Gives the file behind `descriptor`, which has no name, the name `path`, unless something has
  /// it.
  static func name(_ descriptor: Int32, _ path: String) throws(SystemError) {
    try check("/proc/self/fd/\(descriptor)") { old in
      withBytes(of: path) { linkat(AT_FDCWD, old, AT_FDCWD, $0, AT_SYMLINK_FOLLOW) }
    }
  }

  /// The names in a folder, at most `limit` and a few more bytes of them than `byteLimit`, its own
  /// and its parent's among them, and what it is.
  static func names(
    in folder: String, atMost limit: Int, bytes byteLimit: Int = .max
  ) throws(SystemError) -> (names: NameList, status: stat) {
    guard let open = withBytes(of: folder, { opendir($0) }) else { throw .last }
    defer { closedir(open) }
    var status = stat()
    guard fstat(dirfd(open), &status) == 0 else { throw .last }
    var names = NameList()
    while names.count < limit, names.byteCount <= byteLimit, let entry = readdir(open) {
      withUnsafePointer(to: &entry.pointee.d_name) { name in
        name.withMemoryRebound(to: CChar.self, capacity: 256) {
          names.append(UnsafeRawBufferPointer(start: $0, count: strlen($0)))
        }
      }
    }
    return (names, status)
  }

  /// Room on the disk of `path`.
  static func room(at path: String) throws(SystemError) -> statvfs {
    var status = statvfs()
    try check(path) { statvfs($0, &status) }
    return status
  }

  /// Throws `EINVAL` where `path` holds a zero byte: the kernel would take what is before it for
  /// all of the name.
  static func checkName(_ path: String) throws(SystemError) {
    guard !path.utf8.contains(0) else { throw SystemError(number: EINVAL) }
  }

  /// Calls `body` with the path as a C string: with an empty one, which names no file, where a zero
  /// byte would end it early.
  static func withBytes<Result>(
    of path: String, _ body: (UnsafePointer<CChar>) -> Result
  ) -> Result {
    let name = path.utf8.contains(0) ? "" : path
    let bytes = FileName.bytes(of: name).map { CChar(bitPattern: $0) } + [0]
    return bytes.withUnsafeBufferPointer { bytes in
      guard let start = bytes.baseAddress else { return body("") }
      return body(start)
    }
  }

  @discardableResult
  private static func check(
    _ path: String, _ call: (UnsafePointer<CChar>) -> Int32
  ) throws(SystemError) -> Int32 {
    try checkName(path)
    while true {
      let answer = withBytes(of: path, call)
      if answer >= 0 { return answer }
      guard errno == EINTR else { throw .last }
    }
  }
}

/// Identity of a file: its device and inode number, the same for all its names.
public struct FileIdentity: Hashable, Sendable {
  private let device: UInt
  private let number: UInt

  init(_ status: stat) {
    device = UInt(status.st_dev)
    number = UInt(status.st_ino)
  }

  init(_ file: borrowing FileDescriptor) throws(SystemError) {
    var status = stat()
    guard fstat(file.number, &status) == 0 else { throw .last }
    self.init(status)
  }

  /// That of what `path` leads to; nil where there is nothing.
  public init?(of path: String) {
    guard let status = try? FileSystem.status(of: path) else { return nil }
    self.init(status)
  }

  /// That of the pipe or socket at `path`, or on standard input where it is `-`: what comes through
  /// it can be read once. nil where there is none.
  package init?(ofPipe path: String) {
    var status = stat()
    if path == StandardInput.path {
      guard fstat(STDIN_FILENO, &status) == 0 else { return nil }
    } else {
      guard let found = try? FileSystem.status(of: path) else { return nil }
      status = found
    }
    guard FileStatus(status).isPipe else { return nil }
    self.init(status)
  }
}

/// Target of a path: the file that is there, or the one that would be made. Paths of one file have
/// equal places. Any thread but the audio thread.
package struct FileLocation: Hashable {
  private let file: FileIdentity?
  /// The folder and the name in it where there is no file; the whole path where there is no folder
  /// either.
  private let folder: FileIdentity?
  private let name: [UInt8]

  package init(of path: String) {
    file = FileIdentity(of: path)
    folder = file == nil ? FileIdentity(of: FileName.folder(of: path)) : nil
    name = file != nil ? [] : Array(folder == nil ? path.utf8[...] : FileName.last(of: path).utf8)
  }
}

/// The folder that a file is to be made in. Any thread but the audio thread.
package enum OutputFolder {
  /// Throws `.cannotCreate` or `.permissionDenied` where no file can be made beside `path`.
  package static func check(for path: String) throws(FileFailure) {
    let folder = FileName.folder(of: path)
    do throws(SystemError) {
      try FileSystem.checkName(path)
      guard FileStatus(try FileSystem.status(of: folder)).isFolder else {
        throw SystemError(number: ENOTDIR)
      }
      try FileSystem.checkAccess(folder, W_OK | X_OK)
    } catch {
      throw .creating(path, error)
    }
  }
}

/// Removes files that are not needed any more. Any thread but the audio thread.
package enum FileRemoval {
  /// Removes `path`. Throws `.permissionDenied` or `.writeFailed`; a file that is gone is fine.
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

  /// How many bytes `path` holds; nil where there is no such file.
  package static func byteCount(of path: String) -> Int? {
    FileStatus(of: path)?.byteCount
  }
}

/// Room on a disk. Any thread but the audio thread.
package struct DiskSpace {
  /// The disk, by the kernel's number.
  package let disk: UInt
  /// Bytes that may still be written.
  package let freeByteCount: Int

  /// That of the disk of `path`; nil where it cannot be told.
  package init?(at path: String) {
    guard let room = try? FileSystem.room(at: path), room.f_blocks > 0,
      let status = try? FileSystem.status(of: path)
    else { return nil }
    disk = UInt(status.st_dev)
    freeByteCount = Self.byteCount(blocks: room.f_bavail, of: room.f_frsize)
  }

  /// Bytes of `blocks`; the most that can be counted where they are more, as network disks say that
  /// have no end.
  static func byteCount(blocks: UInt, of size: UInt) -> Int {
    let (count, isTooMuch) = blocks.multipliedReportingOverflow(by: size)
    return isTooMuch ? .max : Int(clamping: count)
  }
}
