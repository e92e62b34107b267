import Glibc

/// Short texts on disk: settings, reports.
public enum TextFile {
  /// The text of the file `path`, at most its first 16 MiB. Throws `.cannotOpen`,
  /// `.permissionDenied` or `.readFailed`.
  public static func read(_ path: String) throws(FileFailure) -> String {
    do throws(SystemError) {
      let file = try FileDescriptor(opening: path, O_RDONLY)
      var bytes = [UInt8](repeating: 0, count: 16_777_216)
      let count = try read(file, &bytes)
      return text(of: bytes.prefix(count))
    } catch {
      throw error.isDenied
        ? FileFailure(
          .permissionDenied, "This user may not read \(path).", hint: "Check its permissions.")
        : FileFailure(
          .cannotOpen, "\(path) cannot be read: \(error.reason).", hint: "Check the name.")
    }
  }

  /// UTF-8, or UTF-16 where a mark of its byte order comes first; of other bytes what `FileName` makes of
  /// them, since a playlist names files.
  static func text(of bytes: some BidirectionalCollection<UInt8>) -> String {
    let isLittle = bytes.starts(with: [0xFF, 0xFE])
    guard isLittle || bytes.starts(with: [0xFE, 0xFF]) else {
      return FileName.text(of: bytes)
    }
    var units: [UInt16] = []
    var rest = bytes.dropFirst(2)
    while let one = rest.popFirst(), let other = rest.popFirst() {
      units.append(isLittle ? UInt16(other) << 8 | UInt16(one) : UInt16(one) << 8 | UInt16(other))
    }
    return String(decoding: units, as: UTF16.self)
  }

  /// Makes `text` the contents of `path`, and makes its folders as well where that is asked for: the
  /// old contents stay until the new ones are complete. Throws `.cannotCreate` or
  /// `.permissionDenied`.
  public static func write(
    _ text: String, to path: String, overwrite: Bool = true,
    makingFolders makesFolders: Bool = false
  ) throws(FileFailure) {
    // Where they cannot be made, the draft says why.
    if makesFolders { try? FileSystem.makeFolders(of: path) }
    let draft = try DraftFile(for: path, overwrite: overwrite)
    let bytes = Array(text.utf8)
    let (_, error) = OutputBytes.write(bytes, count: bytes.count, to: draft.descriptor.number)
    if let error { throw .creating(path, error) }
    try draft.publish()
  }

  /// The length of the file at `path` in bytes; nil where it is no file, or none that can be read.
  public static func size(of path: String) -> Int? {
    FileStatus(of: path).flatMap { $0.isRegular ? $0.byteCount : nil }
  }

  private static func read(_ file: borrowing FileDescriptor, _ bytes: inout [UInt8])
    throws(SystemError) -> Int
  {
    var result: Result<Int, SystemError> = .success(0)
    bytes.withUnsafeMutableBytes { memory in
      guard let start = memory.baseAddress else { return }
      do throws(SystemError) {
        result = .success(try file.read(into: start, count: memory.count))
      } catch {
        result = .failure(error)
      }
    }
    return try result.get()
  }
}
