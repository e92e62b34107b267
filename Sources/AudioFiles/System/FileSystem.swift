import CLinuxFiles
import Glibc

/// System calls with file names as arguments; the names are converted to bytes here.
enum FileSystem {
  /// Opens `path` and returns its descriptor.
  static func open(
    _ path: String, _ flags: Int32, mode: mode_t = 0o666
  ) throws(SystemError) -> Int32 {
    try check(path) { Glibc.open($0, flags | O_CLOEXEC, mode) }
  }

  /// Creates a file without a name in `folder` and returns its descriptor.
  static func openUnnamed(in folder: String, mode: UInt32 = 0o666) throws(SystemError) -> Int32 {
    try check(folder) { linux_unnamed_file($0, mode) }
  }

  /// Returns the status of the file at `path`, following links.
  static func status(of path: String) throws(SystemError) -> stat {
    var status = stat()
    try check(path) { stat($0, &status) }
    return status
  }

  /// Returns the status of the file that a new file at `path` would replace, following links; nil
  /// if there is none. Throws `ENOLINK` if `path` is a link to a file that does not exist: it
  /// belongs to someone else.
  static func targetStatus(of path: String) throws(SystemError) -> stat? {
    do throws(SystemError) {
      return try status(of: path)
    } catch {
      guard error.number == ENOENT else { throw error }
      guard !isTaken(path) else { throw SystemError(number: ENOLINK) }
      return nil
    }
  }

  /// Returns whether `path` exists, which includes a dangling link.
  static func isTaken(_ path: String) -> Bool { (try? ownStatus(of: path)) != nil }

  /// Returns the status of the file at `path` itself, which may be a link.
  private static func ownStatus(of path: String) throws(SystemError) -> stat {
    var status = stat()
    try check(path) { lstat($0, &status) }
    return status
  }

  /// Returns the path of the file at `path` without links. If the file is not a link, but its whole
  /// path is longer than the kernel allows, returns `path`, which leads to it from the present
  /// folder.
  static func resolve(_ path: String) throws(SystemError) -> String {
    let found = withBytes(of: path) { realpath($0, nil) }
    guard let found else {
      let error = SystemError.last
      guard error.number == ENAMETOOLONG, let status = try? ownStatus(of: path),
        status.st_mode & S_IFMT != S_IFLNK
      else { throw error }
      return path
    }
    defer { free(found) }
    return FileName.text(ofCString: found)
  }

  /// Returns the present path of the folder of an open file; the file itself need not have a name.
  static func folder(ofOpenFile descriptor: Int32) throws(SystemError) -> String {
    var bytes = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
    let count = readlink("/proc/self/fd/\(descriptor)", &bytes, Int(PATH_MAX))
    guard count > 0 else { throw .last }
    return FileName.folder(of: FileName.text(ofCString: bytes))
  }

  /// Throws unless this user has the access `what` (`W_OK` and the like) to `path`.
  static func checkAccess(_ path: String, _ what: Int32) throws(SystemError) {
    try check(path) { access($0, what) }
  }

  static func remove(_ path: String) throws(SystemError) {
    try check(path) { unlink($0) }
  }

  /// Creates the folders that lead to `path`, if they do not exist.
  static func makeFolders(of path: String) throws(SystemError) {
    for slash in path.utf8.indices.dropFirst() where path.utf8[slash] == UInt8(ascii: "/") {
      do throws(SystemError) {
        try check(String(path[..<slash])) { mkdir($0, 0o777) }
      } catch {
        guard error.number == EEXIST || error.number == EISDIR else { throw error }
      }
    }
  }

  /// Renames `old` to `new` and replaces an existing file.
  static func rename(_ old: String, to new: String) throws(SystemError) {
    try check(old) { old in withBytes(of: new) { Glibc.rename(old, $0) } }
  }

  /// Renames `old` to `new` in one step, unless `new` exists.
  static func renameToFree(_ old: String, to new: String) throws(SystemError) {
    try check(old) { old in withBytes(of: new) { linux_rename_to_free(old, $0) } }
  }

  /// Gives the unnamed file open at `descriptor` the name `path`, unless `path` exists.
  static func name(_ descriptor: Int32, _ path: String) throws(SystemError) {
    try check("/proc/self/fd/\(descriptor)") { old in
      withBytes(of: path) { linkat(AT_FDCWD, old, AT_FDCWD, $0, AT_SYMLINK_FOLLOW) }
    }
  }

  /// Returns the status of a folder and its names, including `.` and `..`. Stops at `limit` names,
  /// or when the names have more than `byteLimit` bytes.
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

  /// Returns the status of the file system of `path`.
  static func room(at path: String) throws(SystemError) -> statvfs {
    var status = statvfs()
    try check(path) { statvfs($0, &status) }
    return status
  }

  /// Returns the largest size in bytes that the open file `descriptor` may have; nil if there is no
  /// limit, or none that is known.
  static func maximumFileByteCount(_ descriptor: Int32) -> Int? {
    let maximum = linux_maximum_file_size(descriptor)
    return maximum == .max ? nil : Int(maximum)
  }

  /// Throws `EINVAL` if `path` contains a zero byte, at which the kernel would end the name.
  static func checkName(_ path: String) throws(SystemError) {
    guard !path.utf8.contains(0) else { throw SystemError(number: EINVAL) }
  }

  /// Calls `body` with the path as a C string. If the path contains a zero byte, the string is
  /// empty, which names no file.
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
