import Glibc

/// A folder of sound files.
public enum SoundFolder {
  /// Whether there is a folder of that name.
  public static func isFolder(_ path: String) -> Bool {
    FileStatus(of: path)?.isFolder == true
  }

  /// The sound files in the folder and all folders within, by their names' endings, in the order of
  /// their names: those of a folder before those of the folders in it. A folder that links
  /// lead to again is not entered again, nor one within that may not be read. Throws
  /// `.permissionDenied`, and `.cannotOpen` where there are none.
  public static func files(in path: String) throws(FileFailure) -> [String] {
    var walk = Walk()
    do throws(SystemError) {
      try walk.enter(path)
    } catch {
      throw error.isDenied || error.number == ENOENT
        ? .opening(path, error)
        : FileFailure(
          .cannotOpen, "The folder \(path) cannot be read: \(error.reason).",
          hint: "Check the disk it is on.")
    }
    let found = walk.found
    guard !found.isEmpty else {
      throw FileFailure(
        .cannotOpen, "There are no sound files in \(path).",
        hint: "Name the files themselves if their names do not end as usual.")
    }
    return found
  }

  private static let endings: Set<String> = [
    "wav", "wave", "rf64", "w64", "aif", "aiff", "aifc", "caf", "flac", "ogg", "oga", "opus", "mp3",
    "au", "snd",
  ]

  /// What was found so far, and where.
  private struct Walk {
    private(set) var found: [String] = []
    /// Links may lead to a folder again and again.
    private var visited: Set<FileIdentity> = []

    /// Goes through a folder, and those within that may be read.
    mutating func enter(_ path: String) throws(SystemError) {
      let (names, status) = try FileSystem.names(in: path)
      guard visited.insert(FileIdentity(status)).inserted else { return }
      let visible = names.filter { $0.utf8.first != UInt8(ascii: ".") }.sorted()
        .map { FileName.join(path, $0) }
      let folders = visible.filter(SoundFolder.isFolder)
      found += visible.filter { endings.contains(FileName.ending(of: $0)) && !folders.contains($0) }
      for inner in folders { try? enter(inner) }
    }
  }
}
