import Glibc

/// The files in which the kernel and the system tell about themselves: `/proc`, `/sys`, `/etc`.
///
/// A test gives a root folder of its own, with as much of them in it as it needs.
public struct SystemFiles: Sendable {
  private let root: String
  private let refused: Set<String>

  /// The files below `root`; this user may not open those named in `refused`, whatever the kernel says.
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

  /// The names in a folder in the order of their bytes, its own and its parent's left out; empty where
  /// it cannot be read.
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
