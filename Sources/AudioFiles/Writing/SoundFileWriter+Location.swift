import Glibc

/// Size and name of the file on its disk, and changes to it by other programs.
extension SoundFileWriter {
  /// Bytes in front of the first sample of a WAV or RF64 file.
  public static var headerByteCount: Int { WaveHeader.byteCount }

  /// Bytes it holds now; nil on a pipe.
  public var byteCount: Int? {
    var status = stat()
    guard fstat(sink.descriptor, &status) == 0, FileStatus(status).isRegular else { return nil }
    return Int(status.st_size)
  }

  /// Whether it was deleted, or its name taken: it goes on growing, but has no name.
  public var isDeleted: Bool {
    guard draft == nil else { return false }
    var status = stat()
    return fstat(sink.descriptor, &status) == 0 && FileStatus(status).isRegular
      && status.st_nlink == 0
  }

  /// The name that it has now, where it or its folder was renamed; nil where it has its own, or
  /// none is found. A file that began without a name is not known by one to the kernel: the folder
  /// is.
  public var newName: String? {
    var status = stat()
    guard draft == nil, fstat(sink.descriptor, &status) == 0, FileStatus(status).isRegular,
      status.st_nlink > 0, FileIdentity(of: path) != FileIdentity(status)
    else { return nil }
    if let name = Self.name(of: FileIdentity(status), in: FileName.folder(of: path)) {
      return String(path.dropLast(FileName.last(of: path).count)) + name
    }
    guard let folder = try? FileSystem.folder(ofOpenFile: sink.descriptor) else { return nil }
    return Self.name(of: FileIdentity(status), in: folder).map { FileName.join(folder, $0) }
  }

  /// What a file is called in `folder`.
  private static func name(of file: FileIdentity, in folder: String) -> String? {
    var names = (try? FileSystem.names(in: folder, atMost: 100_000))?.names ?? NameList()
    while let name = names.takeFirst() {
      if FileIdentity(of: FileName.join(folder, name)) == file { return name }
    }
    return nil
  }

  /// Why it could not get its name, though no other file has it: it stays without one.
  public var nameRefusal: FileFailure? {
    missingName?.isTaken == false ? missingName?.failure : nil
  }

  /// Whether another file has taken its name.
  public var isNameTaken: Bool { missingName?.isTaken == true }

  /// Whether another program cut it off, or wrote into it.
  public var isSpoilt: Bool {
    guard let start, let byteCount else { return false }
    return byteCount < lseek(sink.descriptor, 0, SEEK_CUR)
      || FileStart(of: sink.descriptor) != start
  }

  /// Removes what another program has added behind the last frame: libsndfile takes all that is
  /// behind a Wave64 head for sound.
  func cutOffForeignBytes() {
    guard fileFormat == .w64, soundEnd > 0, let byteCount, byteCount > soundEnd else { return }
    _ = ftruncate(sink.descriptor, soundEnd)
  }

  /// Remembers where the sound ends: the furthest place that a write has come to. A head that could
  /// not be rewritten leaves the descriptor in the middle of that head.
  mutating func noteSoundEnd() {
    guard fileFormat == .w64 else { return }
    soundEnd = max(soundEnd, Int(lseek(sink.descriptor, 0, SEEK_CUR)))
  }

  /// Leaves the file as it is: what another program has made of it. Nothing that is written later
  /// reaches it.
  public mutating func abandon() {
    guard let nothing = Self.nothing else { return }
    dup2(nothing, sink.descriptor)
    start = nil
  }

  /// Where what is written to an abandoned file goes. Open from the first file on: later no
  /// descriptor may be free.
  static let nothing = try? FileSystem.open("/dev/null", O_RDWR)

  /// Whether it has not got its name yet.
  public var isHidden: Bool { draft != nil }

  /// Gives a file that was deleted a name again, with all that it holds, and its folder, too.
  /// Throws `.cannotCreate` or `.permissionDenied` where that cannot be; a file of that
  /// name stays as it is. Where only the disk refuses to say that it has all, it has the name.
  public mutating func restore(as path: String) throws(FileFailure) {
    // Where its folder cannot be made, the draft says why.
    try? FileSystem.makeFolders(of: path)
    let copy = try DraftFile(for: path, overwrite: false)
    let number = copy.descriptor.number
    try mapSystemError(try Self.copy(from: sink.descriptor, to: number)) { .creating(path, $0) }
    let new = try mapSystemError(try FileDescriptor(duplicating: number)) { .creating(path, $0) }
    var trouble: SystemError?
    do throws(SystemError) {
      try copy.synchronize()
    } catch {
      trouble = error
    }
    do throws(SystemError) {
      try copy.appear()
    } catch {
      throw .creating(path, error)
    }
    // The descriptor stays the one that the encoder knows.
    dup2(new.number, sink.descriptor)
    _ = fcntl(sink.descriptor, F_SETFD, FD_CLOEXEC)
    missingName = nil
    draft = nil
    start = FileStart(of: sink.descriptor)
    self.path = path
    if let trouble { throw failure(trouble) }
  }

  /// Copies all bytes, and leaves the copy where the original stands.
  private static func copy(from original: Int32, to copy: Int32) throws(SystemError) {
    let place = lseek(original, 0, SEEK_CUR)
    var offset = 0
    while true {
      let count = sendfile(copy, original, &offset, 1 << 24)
      if count == 0 { break }
      guard count > 0 || errno == EINTR else { throw .last }
    }
    guard place < 0 || lseek(copy, place, SEEK_SET) >= 0 else { throw .last }
  }
}
