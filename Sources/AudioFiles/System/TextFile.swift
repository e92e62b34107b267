import Glibc

/// Short texts on disk: settings, reports.
public enum TextFile {
  /// Bytes of a text of settings, at most.
  private static let longest = 1 << 20

  /// The text of the file `path`. Throws `.cannotOpen`, also for a pipe or a device, `.permissionDenied`,
  /// `.readFailed`, and `.unusableContents` for what is longer than any settings.
  public static func read(_ path: String) throws(FileFailure) -> String {
    text(of: try bytes(of: path, atMost: longest))
  }

  /// The bytes of the file `path`, of which there are `longest` at most. Throws as `read`.
  static func bytes(of path: String, atMost longest: Int) throws(FileFailure) -> [UInt8] {
    do throws(SystemError) {
      let file = try FileDescriptor.file(at: path)
      let count = try file.status.byteCount
      guard count <= longest else {
        throw SystemError(number: EFBIG)
      }
      // Files of the kernel's own have a length of 0.
      var bytes = [UInt8](repeating: 0, count: count == 0 ? 65536 : count)
      bytes.removeLast(bytes.count - (try read(file, &bytes)))
      return bytes
    } catch {
      switch error.number {
      case EFBIG:
        throw FileFailure(
          .unusableContents, "\(path) is longer than \(longest >> 20) MiB.",
          hint: "Check that it is the right file.")
      case EACCES, EPERM:
        throw FileFailure(
          .permissionDenied, "This user may not read \(path).", hint: "Check its permissions.")
      case EISDIR, ESPIPE, ENXIO: throw .opening(path, error)
      default:
        throw FileFailure(
          .cannotOpen, "\(path) cannot be read: \(error.reason).", hint: "Check the name.")
      }
    }
  }

  /// UTF-8, or UTF-16 where a mark of its byte order comes first.
  static func text(of bytes: some BidirectionalCollection<UInt8>) -> String {
    let isLittle = bytes.starts(with: [0xFF, 0xFE])
    guard isLittle || bytes.starts(with: [0xFE, 0xFF]) else {
      return String(decoding: bytes, as: UTF8.self)
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
    _ text: String, to path: String, makingFolders makesFolders: Bool = false
  ) throws(FileFailure) {
    do throws(SystemError) {
      if makesFolders { try makeFolders(of: path) }
      let draft = "\(path).\(getpid()).new"
      try create(draft, text)
      guard rename(draft, path) == 0 else { throw .last }
    } catch {
      throw FileFailure(
        error.isDenied ? .permissionDenied : .cannotCreate,
        "\(path) cannot be written: \(error.reason).",
        hint: "Choose another place, or make room there.")
    }
  }

  /// The length of the file at `path` in bytes; nil where it is no file, or none that can be read.
  public static func size(of path: String) -> Int? {
    guard let status = FileStatus(of: path), status.isRegular else { return nil }
    return status.byteCount
  }

  private static func create(_ path: String, _ text: String) throws(SystemError) {
    let file = try FileDescriptor(opening: path, O_WRONLY | O_CREAT | O_TRUNC)
    var bytes = Array(text.utf8)[...]
    while !bytes.isEmpty {
      let count = bytes.withUnsafeBytes { Glibc.write(file.number, $0.baseAddress, $0.count) }
      guard count > 0 else { throw .last }
      bytes = bytes.dropFirst(count)
    }
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

  private static func makeFolders(of path: String) throws(SystemError) {
    var end = path.startIndex
    while let slash = path[end...].firstIndex(of: "/") {
      end = path.index(after: slash)
      guard slash != path.startIndex else { continue }
      guard mkdir(String(path[..<slash]), 0o777) == 0 || errno == EEXIST || errno == EISDIR else {
        throw .last
      }
    }
  }
}
