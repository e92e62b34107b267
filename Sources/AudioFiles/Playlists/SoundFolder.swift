import Glibc

/// A folder of sound files.
public enum SoundFolder {
  /// Whether there is a folder of that name.
  public static func isFolder(_ path: String) -> Bool {
    FileStatus(of: path)?.isFolder ?? false
  }

  /// The sound files in the folder and all folders within, by their names' endings, in the order of
  /// their names: those of a folder before those of the folders in it. A folder that links
  /// lead to again is not entered again, nor one within that may not be read. Throws
  /// `.permissionDenied`, `.cannotOpen` where there are none, and `.unusableContents` where there are
  /// more than `Playlist.mostEntries`.
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
    guard found.count <= mostFiles else {
      throw FileFailure(
        .unusableContents, "There are more than \(mostFiles) sound files in \(path).",
        hint: "Name the folders in it, some at a time.")
    }
    guard !found.isEmpty else {
      throw FileFailure(
        .cannotOpen, "There are no sound files in \(path).",
        hint: "Name the files themselves if their names do not end as usual.")
    }
    return found
  }

  /// Sound files that are listed, at most.
  private static let mostFiles = Playlist.mostEntries

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
      guard let names = try names(in: path) else { return }
      let base = path.hasSuffix("/") ? path : path + "/"
      var folders: [String] = []
      for name in names.sorted() where !name.hasPrefix(".") {
        // A pipe would be waited for, and a device never ends.
        guard found.count <= SoundFolder.mostFiles, let status = FileStatus(of: base + name)
        else { continue }
        if status.isFolder {
          folders.append(base + name)
        } else if status.isRegular, PathExtension.isSound(PathExtension.of(name)) {
          found.append(base + name)
        }
      }
      for inner in folders { try? enter(inner) }
    }

    /// The names in the folder `path`, as many as may be of use; nil where it was entered before.
    private mutating func names(in path: String) throws(SystemError) -> [String]? {
      guard let folder = opendir(path) else { throw .last }
      defer { closedir(folder) }
      var status = stat()
      guard fstat(dirfd(folder), &status) == 0 else { throw .last }
      let identity = Identity(device: UInt(status.st_dev), number: UInt(status.st_ino))
      guard visited.insert(identity).inserted else { return nil }
      return Self.names(in: folder)
    }

    private static func names(in folder: OpaquePointer) -> [String] {
      var names: [String] = []
      while names.count <= 2 * SoundFolder.mostFiles, let entry = readdir(folder) {
        names.append(
          withUnsafePointer(to: &entry.pointee.d_name) { name in
            name.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
          })
      }
      return names
    }
  }
}
