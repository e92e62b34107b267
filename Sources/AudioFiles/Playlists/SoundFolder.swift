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
    private var visited: Set<FileIdentity> = []

    /// Goes through a folder, and those within that may be read.
    mutating func enter(_ path: String) throws(SystemError) {
      let (names, status) = try FileSystem.names(in: path, atMost: 2 * SoundFolder.mostFiles)
      guard visited.insert(FileIdentity(status)).inserted else { return }
      var folders: [String] = []
      for name in names.sorted() where name.utf8.first != UInt8(ascii: ".") {
        let path = FileName.join(path, name)
        // A pipe would be waited for, and a device never ends.
        guard found.count <= SoundFolder.mostFiles, let status = FileStatus(of: path)
        else { continue }
        if status.isFolder {
          folders.append(path)
        } else if status.isRegular, PathExtension.isSound(FileName.ending(of: name)) {
          found.append(path)
        }
      }
      for inner in folders { try? enter(inner) }
    }
  }
}
