import AudioBasics
import Glibc

/// The files in which the kernel and the system describe themselves: `/proc`, `/sys`, `/etc`. Any
/// thread but the audio thread.
///
/// A test passes another root folder that contains the files that it needs.
public struct SystemFiles: Sendable {
  private let root: String
  private let refused: Set<String>

  /// The files of this machine.
  public static let ofThisMachine = SystemFiles()

  /// Uses the files below `root`; those named in `refused` count as files that this user may not
  /// open, whatever the kernel reports.
  public init(root: String = "", refusing refused: Set<String> = []) {
    self.root = root
    self.refused = refused
  }

  /// Returns the text of a file, its first `limit` bytes; nil if it cannot be read, or is a folder,
  /// a pipe or a device.
  public func text(_ path: String, limit: Int = 65536) -> String? {
    let descriptor = repeated { open(root + path, O_RDONLY | O_NONBLOCK | O_CLOEXEC) }
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    var bytes = [UInt8](repeating: 0, count: limit)
    var count = 0
    while count < limit {
      // Files of the kernel state a size of 0: only an empty read shows where they end.
      let got = bytes.withUnsafeMutableBytes { memory in
        repeated { read(descriptor, memory.baseAddress.map { $0 + count }, limit - count) }
      }
      guard got >= 0 else { return nil }
      if got == 0 { break }
      count += got
    }
    return String(decoding: bytes.prefix(count), as: UTF8.self)
  }

  /// Returns the first line of a file; nil if it is empty or cannot be read.
  public func line(_ path: String) -> String? {
    guard let text = text(path, limit: 4096) else { return nil }
    let line = text.prefix { !$0.isNewline }
    return line.isEmpty ? nil : String(line)
  }

  /// Returns the text after `key` and a colon, on one line of a file; nil if there is no such line.
  public func value(of key: String, in path: String) -> String? {
    for line in (text(path) ?? "").split(separator: "\n") {
      let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2, parts[0].trimmed == key else { continue }
      return parts[1].trimmed
    }
    return nil
  }

  /// Returns the names in a folder in the order of their bytes, without `.` and `..`, at most
  /// 65,536 of them; empty if it cannot be read.
  public func names(in folder: String) -> [String] {
    guard let open = opendir(root + folder) else { return [] }
    defer { closedir(open) }
    var names: [String] = []
    while names.count < 1 << 16, let entry = readdir(open) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { name in
        name.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  /// Returns the paths that match a shell pattern, in order.
  public func paths(matching pattern: String) -> [String] {
    var found = glob_t()
    defer { globfree(&found) }
    guard glob(root + pattern, 0, nil, &found) == 0 else { return [] }
    return (0..<Int(found.gl_pathc)).compactMap { index in
      found.gl_pathv[index].map { String(String(cString: $0).dropFirst(root.count)) }
    }
  }

  /// Returns the target of `path` with all links followed; nil if there is none.
  public func resolved(_ path: String) -> String? {
    guard let found = Self.resolve(root + path),
      let top = root.isEmpty ? "" : Self.resolve(root), found.hasPrefix(top)
    else { return nil }
    return String(found.dropFirst(top.count))
  }

  private static func resolve(_ path: String) -> String? {
    guard let found = realpath(path, nil) else { return nil }
    defer { free(found) }
    return String(cString: found)
  }

  /// Returns whether `path` exists, which includes a dangling link.
  public func exists(_ path: String) -> Bool {
    var status = stat()
    return lstat(root + path, &status) == 0
  }

  /// Returns whether this user may read and write the file at `path`.
  public func mayOpen(_ path: String) -> Bool {
    !refused.contains(path) && access(root + path, R_OK | W_OK) == 0
  }

  /// Returns the result of a system call, which is repeated when a signal interrupts it.
  private func repeated<Answer: SignedInteger>(_ call: () -> Answer) -> Answer {
    while true {
      let answer = call()
      if answer >= 0 || errno != EINTR { return answer }
    }
  }
}
