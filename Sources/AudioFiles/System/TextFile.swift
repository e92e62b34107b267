import Glibc

/// Short texts on disk: settings, reports. Any thread but the audio thread.
package enum TextFile {
  /// The text of the file `path`. Throws `.cannotOpen`, `.permissionDenied` or `.readFailed`, and
  /// `.unusableContents` where it is longer than `limit` bytes, or no file: a device or a pipe may
  /// never end, or never begin.
  package static func read(_ path: String, limit: Int = 1 << 20) throws(FileFailure) -> String {
    text(of: try bytes(of: path, limit: limit))
  }

  /// The bytes of the file `path`. Throws as `read`.
  static func bytes(of path: String, limit: Int) throws(FileFailure) -> [UInt8] {
    do throws(SystemError) {
      let file = try FileDescriptor.file(at: path)
      let count = try file.status.byteCount
      guard count <= limit else { throw SystemError(number: EFBIG) }
      // Files of the kernel's say that they are empty, and others grow: a byte more tells that
      // there is more.
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

  /// UTF-8, or UTF-16 where a mark of its byte order comes first; of other bytes what `FileName`
  /// makes of them, since a playlist names files.
  static func text(of bytes: [UInt8]) -> String {
    narrow(bytes).map { String(decoding: $0, as: UTF8.self) } ?? FileName.text(of: bytes)
  }

  /// The UTF-8 of what is UTF-16; nil where no mark of the byte order says so.
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

  /// Makes `text` the contents of `path`, and makes its folders as well where that is asked for:
  /// the old contents stay until the new ones are complete. Throws `.cannotCreate` or
  /// `.permissionDenied`.
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
      // What kept a folder from being made is the reason, not that it is missing.
      throw refusal.map { .creating(path, $0) } ?? error
    }
  }

  /// The same for what is no text: a picture. Throws as that does.
  package static func write(
    _ bytes: [UInt8], to path: String, overwrite: Bool
  ) throws(FileFailure) {
    let draft = try DraftFile(for: path, overwrite: overwrite)
    let (_, error) = OutputBytes.write(bytes, count: bytes.count, to: draft.descriptor.number)
    if let error { throw .creating(path, error) }
    try draft.publish()
  }

  /// Whether anything is called `path`, a link to no file included.
  package static func exists(_ path: String) -> Bool { FileSystem.isTaken(path) }

  /// Whether a folder that is this user's own keeps it from seeing whether there is anything of
  /// that name. What another user's folders hide, as those of a home that was handed down, was not
  /// meant for it.
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

  /// The length of the file at `path` in bytes; nil where it is no file, or none that can be read.
  package static func size(of path: String) -> Int? {
    FileStatus(of: path).flatMap { $0.isRegular ? $0.byteCount : nil }
  }
}

extension FileFailure {
  /// A text has more than `limit` bytes.
  static func longerThan(_ limit: Int, _ name: String) -> FileFailure {
    FileFailure(
      .unusableContents, "\(name) is longer than \(limit >> 20) MiB.",
      hint: "Check that it is the right file.")
  }
}

/// The files in which the kernel and the system tell about themselves: `/proc`, `/sys`, `/etc`.
///
/// A test gives a root folder of its own, with as much of them in it as it needs.
public struct SystemFiles: Sendable {
  private let root: String
  private let refused: Set<String>

  /// The files below `root`; this user may not open those named in `refused`, whatever the kernel
  /// says.
  public init(root: String = "", refusing refused: Set<String> = []) {
    self.root = root
    self.refused = refused
  }

  /// The text of a file, its first `limit` bytes; nil where it cannot be read.
  public func text(_ path: String, limit: Int = 65536) -> String? {
    guard let file = try? FileDescriptor.file(at: root + path),
      let bytes = try? file.bytes(at: 0, count: limit)
    else { return nil }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The first line of a file; nil where there is none.
  public func line(_ path: String) -> String? {
    guard let text = text(path, limit: 4096) else { return nil }
    let line = text.prefix { !$0.isNewline }
    return line.isEmpty ? nil : String(line)
  }

  /// What stands behind `key` and a colon, on a line of its own of a file.
  public func value(of key: String, in path: String) -> String? {
    for line in (text(path) ?? "").split(separator: "\n") {
      let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2, parts[0].trimmed == key else { continue }
      return parts[1].trimmed
    }
    return nil
  }

  /// The names in a folder in the order of their bytes, its own and its parent's left out; empty
  /// where it cannot be read.
  public func names(in folder: String) -> [String] {
    guard
      let (names, _) = try? FileSystem.names(in: root + folder, atMost: 1 << 16, bytes: 1 << 22)
    else { return [] }
    return names.sortedIndices.map { names[$0] }.filter { $0 != "." && $0 != ".." }
  }

  /// Where `path` leads once all links are followed; nil where it leads nowhere.
  public func resolved(_ path: String) -> String? {
    guard let found = try? FileSystem.resolve(root + path),
      let top = root.isEmpty ? "" : try? FileSystem.resolve(root), found.hasPrefix(top)
    else { return nil }
    return String(found.dropFirst(top.count))
  }

  /// Whether there is anything of that name.
  public func exists(_ path: String) -> Bool { TextFile.exists(root + path) }

  /// Whether this user may read and write what `path` leads to.
  public func mayOpen(_ path: String) -> Bool {
    guard !refused.contains(path) else { return false }
    return (try? FileSystem.checkAccess(root + path, R_OK | W_OK)) != nil
  }
}

extension StringProtocol {
  /// Without blanks at both ends.
  var trimmed: String {
    var text = self[...]
    while let first = text.first, first.isWhitespace { text.removeFirst() }
    while let last = text.last, last.isWhitespace { text.removeLast() }
    return String(text)
  }
}
