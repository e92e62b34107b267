import Glibc

/// A folder of sound files. Any thread but the audio thread.
public enum SoundFolder {
  /// Whether there is a folder of that name.
  public static func isFolder(_ path: String) -> Bool {
    FileStatus(of: path)?.isFolder == true
  }

  /// The sound files in the folder and all folders within, by their names' endings, in the order of
  /// their names, `2.wav` before `10.wav`: those of a folder before those of the folders in it,
  /// which are left out without `entersFolders`. A folder that links lead to again is not entered
  /// again, nor one within that may not be read. Throws `.permissionDenied`, `.cannotOpen` where
  /// there are none, and `.unusableContents` where there are more than `Playlist.mostEntries`, or
  /// their names are too long.
  public static func files(
    in path: String, entersFolders: Bool = true
  ) throws(FileFailure) -> NamedFiles {
    var walk = Walk(root: path, entersFolders: entersFolders)
    do throws(SystemError) {
      try walk.enter("")
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
    guard !walk.isTooLong else {
      throw FileFailure(
        .unusableContents,
        "The names of the files in \(path) are longer than \(mostNameBytes >> 20) MiB together.",
        hint: "Name the folders in it, some at a time.")
    }
    guard found.count > 0 else {
      throw FileFailure(
        .cannotOpen, "The folder \(path) has no sound files.",
        hint: "Name the files themselves if their names do not end as usual.")
    }
    var files = NamedFiles(found, in: .listing(path))
    files.unreadableFolders = walk.unreadable
    return files
  }

  /// Sound files that are listed, at most.
  private static let mostFiles = Playlist.mostEntries

  /// Bytes of their names within the folder, and of what else is in the folders on the way, at
  /// most.
  private static let mostNameBytes = 16 << 20

  /// State of a search through folders.
  private struct Walk {
    let root: String
    let entersFolders: Bool
    /// Relative to the root.
    private(set) var found = NameList()
    private(set) var isTooLong = false
    /// Folders within that may not be read.
    private(set) var unreadable: [String] = []
    /// Names in the folders that are being gone through.
    private var heldByteCount = 0
    /// Links may lead to a folder again and again.
    private var visited: Set<FileIdentity> = []

    init(root: String, entersFolders: Bool) {
      self.root = root
      self.entersFolders = entersFolders
    }

    /// Goes through a folder in the root, and those within that may be read.
    mutating func enter(_ folder: String) throws(SystemError) {
      let (names, status) = try FileSystem.names(
        in: folder.isEmpty ? root : FileName.join(root, folder),
        atMost: 2 * SoundFolder.mostFiles, bytes: SoundFolder.mostNameBytes)
      guard visited.insert(FileIdentity(status)).inserted else { return }
      heldByteCount += names.byteCount
      defer { heldByteCount -= names.byteCount }
      var folders: [Int] = []
      for index in names.naturallySortedIndices {
        let name = names[index]
        guard name.utf8.first != UInt8(ascii: ".") else { continue }
        guard goesOn else { return }
        let path = Self.path(folder, name)
        // A pipe would be waited for, and a device never ends.
        guard let status = FileStatus(of: FileName.join(root, path)) else { continue }
        if status.isFolder {
          if entersFolders { folders.append(index) }
        } else if status.isRegular, PathExtension.isSound(FileName.ending(of: name)) {
          found.append(path)
        }
      }
      for index in folders where goesOn {
        let inner = Self.path(folder, names[index])
        do throws(SystemError) {
          try enter(inner)
        } catch {
          if error.isDenied { unreadable.append(FileName.join(root, inner)) }
        }
      }
    }

    /// Whether there is room for more.
    private var goesOn: Bool {
      mutating get {
        if found.byteCount + heldByteCount > SoundFolder.mostNameBytes { isTooLong = true }
        return !isTooLong && found.count <= SoundFolder.mostFiles
      }
    }

    private static func path(_ folder: String, _ name: String) -> String {
      folder.isEmpty ? name : FileName.join(folder, name)
    }
  }
}
