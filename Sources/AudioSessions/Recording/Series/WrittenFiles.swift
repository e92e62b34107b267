import AudioFiles
import RealtimeAudio

/// The files that a recording has written, the unprocessed ones included: none of them is ever
/// overwritten by a later one.
final class WrittenFiles: Sendable {
  private struct Entries {
    var paths: Set<String> = []
    var identities: Set<FileIdentity> = []
  }

  private let entries = MutexBox(Entries())

  /// Adds `path`, which the recording has taken.
  func insert(_ path: String) {
    entries.withLock { _ = $0.paths.insert(path) }
  }

  /// Removes `path`, under which no frame was written.
  func remove(_ path: String) {
    entries.withLock { _ = $0.paths.remove(path) }
  }

  /// Adds the complete file `path`, which is found again under other names.
  func insertComplete(_ path: String) {
    let identity = FileIdentity(of: path)
    entries.withLock { entries in
      entries.paths.insert(path)
      if let identity { entries.identities.insert(identity) }
    }
  }

  /// Returns whether `path` is, or leads to, a file that the recording has written.
  func contains(_ path: String) -> Bool {
    let identity = FileIdentity(of: path)
    return entries.withLock { entries in
      entries.paths.contains(path) || identity.map(entries.identities.contains) ?? false
    }
  }

  /// Adopts the new paths of the files whose folder was renamed.
  func follow(_ move: FolderMove) {
    entries.withLock { $0.paths.formUnion($0.paths.compactMap(move.place)) }
  }
}
