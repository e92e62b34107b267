import Glibc

/// The size and name of the file on disk, and changes to it by other programs.
extension SoundFileWriter {
  /// The number of bytes before the first sample of a WAV or RF64 file.
  public static var headerByteCount: Int { WaveHeader.byteCount }

  /// The number of bytes that are kept free for metadata, without the markers.
  static let metadataByteCount = 65536

  /// The highest limit of the process in bytes, 2 MiB, that counts as a full disk: files so small
  /// would be too many, and some of them would hold nothing but tags.
  package static let tooSmallByteCount = 2 << 20

  /// Returns the number of bytes of the unencoded samples that an encoder holds back at most: one
  /// block of 24-bit samples.
  package static func heldByteCount(channelCount: Int) -> Int { 4096 * channelCount * 3 }

  /// The size in bytes up to which samples may be written: what the file format, the file system
  /// and the limit of the process allow, without the room for metadata after the samples and for
  /// frames that an encoder holds back. The markers need more room: `byteCount(of:)`. nil if there
  /// is no limit in practice, or one so low that it counts as a full disk, and for a pipe or a
  /// device.
  package var soundByteCountLimit: Int? { soundByteCountLimit(knowing: nil) }

  /// Returns `soundByteCountLimit` on a disk whose files, as was found, hold at most `known` bytes.
  package func soundByteCountLimit(knowing known: Int?) -> Int? {
    guard byteCount != nil else { return nil }
    let place = FileSystem.maximumFileByteCount(sink.descriptor)
    guard let maximum = [place, fileFormat.maximumByteCount, known].compactMap(\.self).min(),
      maximum > Self.tooSmallByteCount
    else { return nil }
    let held = fileFormat.isPlain ? 0 : 3 * Self.heldByteCount(channelCount: channelCount)
    return maximum - min(Self.metadataByteCount + held, maximum / (fileFormat.isPlain ? 4 : 2))
  }

  /// Returns the number of bytes that `marker` takes in the file; 0 if the format cannot store it.
  package func byteCount(of marker: SoundFileMarker) -> Int {
    fileFormat.holdsMarkers ? MarkerChunks.byteCount(of: marker) : 0
  }

  /// The present size of the file in bytes; nil for a pipe, and after `complete`.
  public var byteCount: Int? {
    var status = stat()
    guard !isComplete, fstat(sink.descriptor, &status) == 0, FileStatus(status).isRegular else {
      return nil
    }
    return Int(status.st_size)
  }

  /// Whether the file was deleted, or its name was taken by another file. It still grows, but has
  /// no name. False after `complete`.
  public var isDeleted: Bool {
    guard !isComplete, draft == nil else { return false }
    var status = stat()
    return fstat(sink.descriptor, &status) == 0 && FileStatus(status).isRegular
      && status.st_nlink == 0
  }

  /// The present path of the file if the file or its folder was renamed; nil if it has its original
  /// path or none is found. The kernel does not record the name of a file that was created without
  /// one, only its folder, so the names in that folder are searched. nil after `complete`.
  public var newName: String? {
    var status = stat()
    guard !isComplete, draft == nil, fstat(sink.descriptor, &status) == 0,
      FileStatus(status).isRegular,
      status.st_nlink > 0, FileIdentity(of: path) != FileIdentity(status)
    else { return nil }
    if let name = Self.name(of: FileIdentity(status), in: FileName.folder(of: path)) {
      return String(path.dropLast(FileName.last(of: path).count)) + name
    }
    guard let folder = try? FileSystem.folder(ofOpenFile: sink.descriptor) else { return nil }
    return Self.name(of: FileIdentity(status), in: folder).map { FileName.join(folder, $0) }
  }

  /// Makes `newName` the path of this writer, and returns it; nil if there is none.
  package mutating func adoptNewName() -> String? {
    guard let name = newName else { return nil }
    path = name
    return name
  }

  /// Returns the name of `file` in `folder`; nil if it is not found.
  private static func name(of file: FileIdentity, in folder: String) -> String? {
    var names = (try? FileSystem.names(in: folder, atMost: 100_000))?.names ?? NameList()
    while let name = names.takeFirst() {
      if FileIdentity(of: FileName.join(folder, name)) == file { return name }
    }
    return nil
  }

  /// The reason that the file could not get its name although no other file has it; it remains
  /// without one. nil if there is no such reason.
  public var nameRefusal: FileFailure? {
    missingName?.isTaken == false ? missingName?.failure : nil
  }

  /// Whether another file has taken the name of this file.
  public var isNameTaken: Bool { missingName?.isTaken == true }

  /// Whether another program truncated the file or wrote to it. False after `complete`.
  public var isModifiedByOthers: Bool {
    guard let start, let byteCount else { return false }
    return byteCount < lseek(sink.descriptor, 0, SEEK_CUR)
      || FileStart(of: sink.descriptor) != start
  }

  /// The former name of `isModifiedByOthers`.
  @available(*, deprecated, renamed: "isModifiedByOthers")
  public var isSpoilt: Bool { isModifiedByOthers }

  /// Removes the bytes that another program has appended after the last frame of a Wave64 file:
  /// libsndfile treats everything after a Wave64 header as audio.
  func cutOffForeignBytes() {
    guard fileFormat == .w64, soundEnd > 0, let byteCount, byteCount > soundEnd else { return }
    _ = ftruncate(sink.descriptor, soundEnd)
  }

  /// Records the end of the audio in a Wave64 file: the highest offset that a write has reached. A
  /// failed rewrite of the header leaves the descriptor's offset in the middle of the header.
  mutating func noteSoundEnd() {
    guard fileFormat == .w64 else { return }
    soundEnd = max(soundEnd, Int(lseek(sink.descriptor, 0, SEEK_CUR)))
  }

  /// Leaves the file in the state in which another program has put it. Later writes do not reach
  /// it. Does nothing after `complete`.
  public mutating func abandon() {
    guard !isComplete, let nothing = Self.nothing else { return }
    try? FileDescriptor.redirect(sink.descriptor, to: nothing)
    start = nil
  }

  /// The destination of writes to an abandoned file. It is opened with the first file, because
  /// later no descriptor may be free.
  static let nothing = try? FileSystem.open("/dev/null", O_RDWR)

  /// Whether the file does not have its name yet.
  public var isHidden: Bool { draft != nil }

  /// Gives a deleted file a name again, with all its contents, and creates its folder if necessary.
  /// Throws `.cannotCreate` or `.permissionDenied` if this fails; an existing file of that name is
  /// not changed. If the disk only fails to confirm that it has all data, the file has the name,
  /// and the error is thrown. Throws `.invalidRequest` after `complete`.
  public mutating func restore(as path: String) throws(FileFailure) {
    try checkOpen()
    // If the folder cannot be created, `DraftFile` throws the reason.
    try? FileSystem.makeFolders(of: path)
    let copy = try DraftFile(for: path, overwrite: false)
    let number = copy.descriptor.number
    try mapSystemError(try Self.copy(from: sink.descriptor, to: number)) { .creating(path, $0) }
    let new = try mapSystemError(try FileDescriptor(duplicating: number)) { .creating(path, $0) }
    var firstError: SystemError?
    do throws(SystemError) {
      try copy.synchronize()
    } catch {
      firstError = error
    }
    do throws(SystemError) {
      try copy.assignName()
    } catch {
      throw .creating(path, error)
    }
    do throws(SystemError) {
      // The encoder continues to use the same descriptor number.
      try FileDescriptor.redirect(sink.descriptor, to: new.number)
    } catch {
      // The copy would not grow.
      try? FileSystem.remove(path)
      throw .creating(path, error)
    }
    missingName = nil
    draft = nil
    start = FileStart(of: sink.descriptor)
    self.path = path
    if let firstError { throw failure(firstError) }
  }

  /// Copies all bytes, and sets the offset of the copy to that of the original.
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
