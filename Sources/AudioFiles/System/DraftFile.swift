import Glibc

/// A file that does not have its final name yet: an existing file remains until its replacement is
/// complete. A draft that is released before it gets its name is deleted.
///
/// If the file system supports it, the draft has no name at all, so that not even a kill leaves it
/// behind; otherwise it has a random name in the same folder. From the start, no other program can
/// write to its path in this way, because files that are being written are locked (`flock`).
struct DraftFile: ~Copyable {
  /// The descriptor to write to.
  let descriptor: FileDescriptor
  /// The path in messages.
  private let title: String
  /// The final path: the target if the given path is a link.
  private let path: String
  /// The file that has the final path, open and locked; nil if there is none.
  private let replaced: FileDescriptor?
  /// The temporary name of the draft, if it has one.
  private var name: String?

  /// Creates a draft of `path`. Throws `.cannotCreate` or `.permissionDenied`; without `overwrite`,
  /// an existing file is refused.
  init(for path: String, overwrite: Bool) throws(FileFailure) {
    guard !path.isEmpty else { throw .creating(path, SystemError(number: ENOENT)) }
    let location = try mapSystemError(try DraftLocation(path, overwrite: overwrite)) {
      .creating(path, $0)
    }
    let made = try Self.create(for: location.path, title: path)
    name = made.name
    descriptor = FileDescriptor(owning: made.number)
    title = path
    self.path = location.path
    if let old = location.status {
      fchown(made.number, old.st_uid, old.st_gid)
      fchmod(made.number, old.st_mode & 0o777)
    }
    replaced = location.takeLocked()
    _ = flock(made.number, LOCK_EX | LOCK_NB)
  }

  deinit {
    if let name { try? FileSystem.remove(name) }
  }

  /// Whether the draft will replace a file.
  var isReplacing: Bool { replaced != nil }

  /// Gives the draft its final name in one step, after its contents are on the disk. Later writes
  /// to its descriptor continue in it. Throws as `init` does.
  consuming func publish() throws(FileFailure) {
    let title = self.title
    do throws(SystemError) {
      try synchronize()
      try assignName()
    } catch {
      throw .creating(title, error)
    }
  }

  /// Waits until the contents are on the disk.
  borrowing func synchronize() throws(SystemError) {
    try OutputBytes.synchronize(descriptor.number)
  }

  /// Gives the draft its final name without waiting for its contents.
  consuming func assignName() throws(SystemError) {
    if replaced != nil {
      if name == nil {
        // Only a named file can replace another.
        let own = Self.randomName(beside: path)
        try FileSystem.name(descriptor.number, own)
        name = own
      }
      if let name { try FileSystem.rename(name, to: path) }
    } else if let name {
      try Self.rename(name, toFree: path)
    } else {
      try FileSystem.name(descriptor.number, path)
    }
    name = nil
    // If a folder cannot be synchronized, there is no remedy.
    if let folder = try? FileDescriptor(opening: FileName.folder(of: path), O_RDONLY | O_DIRECTORY)
    {
      try? OutputBytes.synchronize(folder.number)
    }
  }

  /// Gives the draft the first free name with a number in the same folder, without waiting for its
  /// contents; returns the path.
  consuming func publishUnderFreeName() throws(SystemError) -> String {
    for attempt in 2..<10_000 {
      let other = FileName.insert("-\(attempt)", into: path)
      do throws(SystemError) {
        if let name {
          try Self.rename(name, toFree: other)
        } else {
          try FileSystem.name(descriptor.number, other)
        }
      } catch {
        guard error.number == EEXIST else { throw error }
        continue
      }
      name = nil
      // The path as the user wrote it, if it refers to the same file.
      let written = FileName.insert("-\(attempt)", into: title)
      return FileIdentity(of: written) == FileIdentity(of: other) ? written : other
    }
    throw SystemError(number: EEXIST)
  }

  private static func create(
    for path: String, title: String
  ) throws(FileFailure) -> (number: Int32, name: String?) {
    // The file gets its name through /proc.
    if let unnamed = try? FileSystem.openUnnamed(in: FileName.folder(of: path)) {
      if (try? FileSystem.checkAccess("/proc/self/fd/\(unnamed)", F_OK)) != nil {
        return (unnamed, nil)
      }
      close(unnamed)
    }
    let name = randomName(beside: path)
    let flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW
    return (try mapSystemError(try FileSystem.open(name, flags)) { .creating(title, $0) }, name)
  }

  /// Returns an unpredictable name that is not longer than file names may be.
  private static func randomName(beside path: String) -> String {
    let stem = String(String.UnicodeScalarView(FileName.last(of: path).unicodeScalars.prefix(40)))
    let random = String(UInt64.random(in: 0 ... .max), radix: 36)
    return FileName.join(FileName.folder(of: path), "\(stem).\(random).new")
  }

  private static func rename(_ name: String, toFree path: String) throws(SystemError) {
    do throws(SystemError) {
      try FileSystem.renameToFree(name, to: path)
    } catch {
      // Some network file systems cannot check in the same step whether a name is free.
      guard error.number == EINVAL || error.number == ENOSYS else { throw error }
      guard !FileSystem.isTaken(path) else { throw SystemError(number: EEXIST) }
      try FileSystem.rename(name, to: path)
    }
  }
}

/// The target path of a draft, and the file that is there, locked.
private struct DraftLocation: ~Copyable {
  let path: String
  let status: stat?
  private let locked: FileDescriptor?

  init(_ path: String, overwrite: Bool) throws(SystemError) {
    guard !path.isEmpty else { throw SystemError(number: ENOENT) }
    guard path.utf8.last != UInt8(ascii: "/") else { throw SystemError(number: EISDIR) }
    let found = try FileSystem.targetStatus(of: path)
    let real = found == nil ? path : try FileSystem.resolve(path)
    locked = try Self.lock(real, found, overwrite: overwrite)
    status = found
    self.path = real
  }

  private static func lock(
    _ path: String, _ status: stat?, overwrite: Bool
  ) throws(SystemError) -> FileDescriptor? {
    guard let status else { return nil }
    guard !FileStatus(status).isFolder else { throw SystemError(number: EISDIR) }
    guard FileStatus(status).isRegular else { throw SystemError(number: ESPIPE) }
    guard overwrite else { throw SystemError(number: EEXIST) }
    try checkSticky(path, status)
    // A file that may not be written may not be replaced either.
    let file = try FileDescriptor(opening: path, O_WRONLY | O_NONBLOCK | O_NOFOLLOW)
    try file.lock()
    // Another program may have replaced the file in the meantime.
    guard FileIdentity(of: path) == (try FileIdentity(file)) else {
      throw SystemError(number: EWOULDBLOCK)
    }
    return file
  }

  consuming func takeLocked() -> FileDescriptor? { locked }

  /// Throws `EACCES` in folders such as /tmp, where users may not rename the files of others.
  private static func checkSticky(_ path: String, _ status: stat) throws(SystemError) {
    let user = geteuid()
    let folder = try FileSystem.status(of: FileName.folder(of: path))
    guard
      user == 0 || folder.st_mode & S_ISVTX == 0 || status.st_uid == user
        || folder.st_uid == user
    else { throw SystemError(number: EACCES) }
  }
}
