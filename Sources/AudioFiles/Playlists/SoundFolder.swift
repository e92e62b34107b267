import Glibc

/// A folder of sound files.
public enum SoundFolder {
  /// Whether there is a folder of that name.
  public static func isFolder(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
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
    private var visited: Set<Identity> = []

    /// What makes two names one folder.
    private struct Identity: Hashable {
      let device: UInt
      let number: UInt
    }

    /// Goes through a folder, and those within that may be read.
    mutating func enter(_ path: String) throws(SystemError) {
      guard let folder = opendir(path) else { throw .last }
      defer { closedir(folder) }
      var status = stat()
      guard fstat(dirfd(folder), &status) == 0 else { throw .last }
      let identity = Identity(device: UInt(status.st_dev), number: UInt(status.st_ino))
      guard visited.insert(identity).inserted else { return }
      let base = path.hasSuffix("/") ? path : path + "/"
      let visible = Self.names(in: folder).filter { !$0.hasPrefix(".") }.sorted().map { base + $0 }
      let folders = visible.filter(SoundFolder.isFolder)
      found += visible.filter { endings.contains(Playlist.suffix(of: $0)) && !folders.contains($0) }
      for inner in folders { try? enter(inner) }
    }

    private static func names(in folder: OpaquePointer) -> [String] {
      var names: [String] = []
      while let entry = readdir(folder) {
        names.append(
          withUnsafePointer(to: &entry.pointee.d_name) { name in
            name.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
          })
      }
      return names
    }
  }
}
