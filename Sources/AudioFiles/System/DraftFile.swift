import Glibc

/// A file on its way to its name: what is there stays until there is something better. Let go of
/// before it was put in its place, it vanishes.
///
/// It has no name at all where the file system can do that, so that not even a kill leaves it
/// behind; elsewhere a random one beside its place. From the beginning on no other program can
/// write to its place in this way: files that are written are locked (`flock`).
struct DraftFile: ~Copyable {
  /// What it is written through.
  let descriptor: FileDescriptor
  /// What messages call it.
  private let title: String
  /// Where it goes: the file itself, where the path it was made for is a link.
  private let path: String
  /// The file that has the place, open and locked; nil where there was none.
  private let replaced: FileDescriptor?
  /// Its own name, where it has one.
  private var name: String?

  /// A draft of `path`. Throws `.cannotCreate` or `.permissionDenied`; without
  /// `overwrite`, a file of that name is refused.
  init(for path: String, overwrite: Bool) throws(FileFailure) {
    let place = try mapSystemError(try Place(path, overwrite: overwrite)) { .creating(path, $0) }
    let made = try Self.create(for: place.path, title: path)
    name = made.name
    descriptor = FileDescriptor(owning: made.number)
    title = path
    self.path = place.path
    if let old = place.status {
      fchown(made.number, old.st_uid, old.st_gid)
      fchmod(made.number, old.st_mode & 0o777)
    }
    replaced = place.takeLocked()
    _ = flock(made.number, LOCK_EX | LOCK_NB)
  }

  deinit {
    if let name { try? FileSystem.remove(name) }
  }

  /// Whether there is a file whose place it takes.
  var isReplacing: Bool { replaced != nil }

  /// Puts it in its place, in one step, on the disk as well. What is written later goes on in it.
  /// Throws as `init` does.
  consuming func publish() throws(FileFailure) {
    let title = self.title
    do throws(SystemError) {
      try synchronize()
      try appear()
    } catch {
      throw .creating(title, error)
    }
  }

  /// Waits until what is in it is on the disk.
  borrowing func synchronize() throws(SystemError) {
    try OutputBytes.synchronize(descriptor.number)
  }

  /// Puts it in its place without waiting for what is in it.
  consuming func appear() throws(SystemError) {
    if replaced != nil {
      if name == nil {
        // Only a name can take the place of another.
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
    // Where folders cannot be waited for, nothing can be done.
    if let folder = try? FileDescriptor(opening: FileName.folder(of: path), O_RDONLY | O_DIRECTORY)
    {
      try? OutputBytes.synchronize(folder.number)
    }
  }

  /// Puts it beside its place, under the first name with a number that is free, without waiting for
  /// what is in it; returns where.
  consuming func appearBeside() throws(SystemError) -> String {
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
      // As the user wrote it, where that leads there.
      let written = FileName.insert("-\(attempt)", into: title)
      return FileIdentity(of: written) == FileIdentity(of: other) ? written : other
    }
    throw SystemError(number: EEXIST)
  }

  private static func create(
    for path: String, title: String
  ) throws(FileFailure) -> (number: Int32, name: String?) {
    // It gets its name through /proc.
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

  /// A name that cannot be foreseen, not longer than names may be.
  private static func randomName(beside path: String) -> String {
    let stem = String(String.UnicodeScalarView(FileName.last(of: path).unicodeScalars.prefix(40)))
    let random = String(UInt64.random(in: 0 ... .max), radix: 36)
    return FileName.join(FileName.folder(of: path), "\(stem).\(random).new")
  }

  private static func rename(_ name: String, toFree path: String) throws(SystemError) {
    do throws(SystemError) {
      try FileSystem.renameToFree(name, to: path)
    } catch {
      // Some file systems of other machines cannot tell whether a name is free in the same step.
      guard error.number == EINVAL || error.number == ENOSYS else { throw error }
      guard !FileSystem.isTaken(path) else { throw SystemError(number: EEXIST) }
      try FileSystem.rename(name, to: path)
    }
  }
}

/// Target path of a draft, and the file that is there, locked.
private struct Place: ~Copyable {
  let path: String
  let status: stat?
  private let locked: FileDescriptor?

  init(_ path: String, overwrite: Bool) throws(SystemError) {
    guard !path.isEmpty else { throw SystemError(number: ENOENT) }
    guard path.utf8.last != UInt8(ascii: "/") else { throw SystemError(number: EISDIR) }
    let found = try Self.status(of: path)
    let real = found == nil ? path : try FileSystem.resolve(path)
    locked = try Self.lock(real, found, overwrite: overwrite)
    status = found
    self.path = real
  }

  private static func status(of path: String) throws(SystemError) -> stat? {
    do throws(SystemError) {
      return try FileSystem.status(of: path)
    } catch {
      guard error.number == ENOENT else { throw error }
      // A link to no file is something, and not ours.
      guard !FileSystem.isTaken(path) else { throw SystemError(number: ENOLINK) }
      return nil
    }
  }

  private static func lock(
    _ path: String, _ status: stat?, overwrite: Bool
  ) throws(SystemError) -> FileDescriptor? {
    guard let status else { return nil }
    guard !FileStatus(status).isFolder else { throw SystemError(number: EISDIR) }
    guard FileStatus(status).isRegular else { throw SystemError(number: ESPIPE) }
    guard overwrite else { throw SystemError(number: EEXIST) }
    try checkSticky(path, status)
    // What may not be written may not be replaced either.
    let file = try FileDescriptor(opening: path, O_WRONLY | O_NONBLOCK | O_NOFOLLOW)
    try file.lock()
    // Another program may just have replaced it.
    guard FileIdentity(of: path) == (try FileIdentity(file)) else {
      throw SystemError(number: EWOULDBLOCK)
    }
    return file
  }

  consuming func takeLocked() -> FileDescriptor? { locked }

  /// In folders such as /tmp, no user may rename the files of others away.
  private static func checkSticky(_ path: String, _ status: stat) throws(SystemError) {
    let user = geteuid()
    let folder = try FileSystem.status(of: FileName.folder(of: path))
    guard
      user == 0 || folder.st_mode & S_ISVTX == 0 || status.st_uid == user
        || folder.st_uid == user
    else { throw SystemError(number: EACCES) }
  }
}

/// Bytes on their way to a descriptor.
enum OutputBytes {
  /// Writes `count` bytes where the descriptor stands; says how many could be, and why no more.
  static func write(
    _ bytes: UnsafeRawPointer, count: Int, to descriptor: Int32
  ) -> (done: Int, error: SystemError?) {
    var done = 0
    while done < count {
      let written = Glibc.write(descriptor, bytes + done, count - done)
      if written >= 0 {
        done += written
      } else if errno != EINTR {
        return (done, .last)
      }
    }
    return (done, nil)
  }

  /// Writes `bytes` from `place` on. The descriptor stays where it is.
  static func write(
    _ bytes: UnsafeRawBufferPointer, at place: Int, to descriptor: Int32
  ) throws(SystemError) {
    var done = 0
    while done < bytes.count {
      let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
      let written = pwrite(descriptor, rest.baseAddress, rest.count, place + done)
      guard written != 0 else { throw SystemError(number: EIO) }
      if written > 0 { done += written } else if errno != EINTR { throw .last }
    }
  }

  /// The same for an array.
  static func write(
    _ bytes: [UInt8], at place: Int, to descriptor: Int32
  ) throws(SystemError) {
    try bytes.withUnsafeBufferPointer { bytes throws(SystemError) in
      try write(UnsafeRawBufferPointer(bytes), at: place, to: descriptor)
    }
  }

  /// Bytes that are in an output already: as many of the `count` bytes from `place` on as there
  /// are; none where they cannot be read.
  static func bytes(at place: Int, count: Int, of descriptor: Int32) -> [UInt8] {
    (try? FileDescriptor.bytes(at: place, count: count, of: descriptor)) ?? []
  }

  /// Cuts off what is of no use, and goes on there.
  static func cut(_ descriptor: Int32, at offset: Int) {
    _ = ftruncate(descriptor, offset)
    _ = lseek(descriptor, offset, SEEK_SET)
  }

  /// Waits until all is on the disk. A pipe has nothing to wait for.
  static func synchronize(_ descriptor: Int32) throws(SystemError) {
    guard fdatasync(descriptor) == 0 || errno == EINVAL || errno == EROFS else { throw .last }
  }
}
