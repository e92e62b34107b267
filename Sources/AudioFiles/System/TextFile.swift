import Glibc

/// Short text files: settings, reports. Any thread but the audio thread.
package enum TextFile {
  /// Returns the text of the file `path`. Throws `.cannotOpen`, `.permissionDenied` or
  /// `.readFailed`, and `.unusableContents` if it is longer than `limit` bytes. Devices and pipes
  /// are refused, since they may never end, or never begin.
  package static func read(_ path: String, limit: Int = 1 << 20) throws(FileFailure) -> String {
    text(of: try bytes(of: path, limit: limit))
  }

  /// Returns the bytes of the file `path`. Throws as `read` does.
  static func bytes(of path: String, limit: Int) throws(FileFailure) -> [UInt8] {
    do throws(SystemError) {
      let file = try FileDescriptor.file(at: path)
      let count = try file.status.byteCount
      guard count <= limit else { throw SystemError(number: EFBIG) }
      // Kernel files state a size of 0, and other files may grow: one extra byte shows whether
      // there are more.
      var bytes = try file.bytes(at: 0, count: count + 1)
      while bytes.count <= limit {
        let rest = min(max(4096, bytes.count), limit + 1 - bytes.count)
        let more = try file.bytes(at: bytes.count, count: rest)
        if more.isEmpty { return bytes }
        bytes += more
      }
      throw SystemError(number: EFBIG)
    } catch {
      switch error.number {
      case EFBIG: throw .longerThan(limit, path)
      case EISDIR:
        throw FileFailure(
          .cannotOpen, "\(path) is a folder, not a file.", hint: "Name a file in it.")
      default: throw .opening(path, error)
      }
    }
  }

  /// Returns the text of UTF-8, or of UTF-16 that begins with a byte order mark; converts other
  /// bytes as `FileName` does, since a playlist names files.
  static func text(of bytes: [UInt8]) -> String {
    narrow(bytes).map { String(decoding: $0, as: UTF8.self) } ?? FileName.text(of: bytes)
  }

  /// Returns UTF-16 bytes as UTF-8; nil if they do not begin with a byte order mark.
  static func narrow(_ bytes: [UInt8]) -> [UInt8]? {
    let isLittle = bytes.starts(with: [0xFF, 0xFE])
    guard isLittle || bytes.starts(with: [0xFE, 0xFF]) else { return nil }
    let units = (1..<bytes.count / 2).lazy.map { index in
      let (one, other) = (UInt16(bytes[2 * index]), UInt16(bytes[2 * index + 1]))
      return isLittle ? other << 8 | one : one << 8 | other
    }
    var narrow: [UInt8] = []
    narrow.reserveCapacity(bytes.count / 2)
    _ = transcode(
      units.makeIterator(), from: UTF16.self, to: UTF8.self, stoppingOnError: false
    ) { narrow.append($0) }
    return narrow
  }

  /// Throws `.cannotCreate` or `.permissionDenied` if `write` could not begin to write `path`.
  package static func checkWriting(_ path: String, overwrite: Bool = true) throws(FileFailure) {
    // A draft that is released is deleted.
    _ = try DraftFile(for: path, overwrite: overwrite)
  }

  /// Makes `text` the contents of `path`, and creates its folders if requested: the old contents
  /// remain until the new ones are complete. Throws `.cannotCreate` or `.permissionDenied`.
  package static func write(
    _ text: String, to path: String, overwrite: Bool = true,
    makingFolders makesFolders: Bool = false
  ) throws(FileFailure) {
    var refusal: SystemError?
    if makesFolders {
      do throws(SystemError) { try FileSystem.makeFolders(of: path) } catch { refusal = error }
    }
    do throws(FileFailure) {
      try write(Array(text.utf8), to: path, overwrite: overwrite)
    } catch {
      // If a folder could not be created, that reason is reported instead of the missing folder.
      throw refusal.map { .creating(path, $0) } ?? error
    }
  }

  /// Writes binary data, such as a picture, in the same way. Throws as `write` for text does.
  package static func write(
    _ bytes: [UInt8], to path: String, overwrite: Bool
  ) throws(FileFailure) {
    let draft = try DraftFile(for: path, overwrite: overwrite)
    let (_, error) = OutputBytes.write(bytes, count: bytes.count, to: draft.descriptor.number)
    if let error { throw .creating(path, error) }
    try draft.publish()
  }

  /// Returns whether a folder that this user owns denies access, so that the existence of `path`
  /// cannot be checked. Folders of other users, such as those of an inherited home directory, do
  /// not count: their contents are not meant for this user.
  package static func isHidden(_ path: String) -> Bool {
    var place = path
    while true {
      do throws(SystemError) {
        let status = try FileSystem.status(of: place)
        return place != path && status.st_uid == geteuid()
      } catch {
        let folder = FileName.folder(of: place)
        guard error.isDenied, folder != place else { return false }
        place = folder
      }
    }
  }
}

extension FileFailure {
  /// Returns the failure of a text that has more than `limit` bytes.
  static func longerThan(_ limit: Int, _ name: String) -> FileFailure {
    FileFailure(
      .unusableContents, "\(name) is longer than \(limit >> 20) MiB.",
      hint: "Check that it is the right file.")
  }
}
