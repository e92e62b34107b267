import Glibc

/// Listing of the audio files in a folder. Any thread but the audio thread.
public enum SoundFolder {
  /// Returns whether `path` is a folder. `-` is standard input, even if a folder has this name.
  public static func isFolder(_ path: String) -> Bool {
    path != StandardInput.path && FileStatus(of: path)?.isFolder == true
  }

  /// Returns the audio files in a folder and its subfolders, recognised by their extensions and
  /// sorted by name, with `2.wav` before `10.wav`. The files of a folder precede those of its
  /// subfolders, which are skipped if `entersFolders` is false. A folder reached again through
  /// links is visited only once, and unreadable subfolders are skipped, as are the folders of the
  /// kernel (`/proc`, `/sys` and `/dev`) unless `path` names them. Throws `.permissionDenied`,
  /// `.cannotOpen` if there are no audio files or the folder cannot be read, and
  /// `.unusableContents` if there are more than `Playlist.maximumEntries`, or if their names are
  /// too long.
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
    guard found.count <= maximumFiles else {
      throw FileFailure(
        .unusableContents, "There are more than \(maximumFiles) sound files in \(path).",
        hint: "Name the folders in it, some at a time.")
    }
    guard !walk.isTooLong else {
      throw FileFailure(
        .unusableContents,
        "The names of the files in \(path) are longer than \(maximumNameBytes >> 20) MiB together.",
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

  /// The maximum number of audio files.
  private static let maximumFiles = Playlist.maximumEntries

  /// The maximum total size in bytes of the names found, and of all names in the folders on the
  /// current path.
  private static let maximumNameBytes = 16 << 20

  /// The folders of the kernel, which hold no files of users: they are not entered from others.
  private static let systemFolders = ["/proc", "/sys", "/dev"]

  /// The state of a recursive search through folders.
  private struct Walk {
    let root: String
    let entersFolders: Bool
    /// The paths found, relative to the root.
    private(set) var found = NameList()
    private(set) var isTooLong = false
    /// The subfolders that could not be read.
    private(set) var unreadable: [String] = []
    /// The size in bytes of all names in the folders on the current path.
    private var heldByteCount = 0
    /// The folders already visited. Links may lead to the same folder several times.
    private var visited: Set<FileIdentity> = []

    init(root: String, entersFolders: Bool) {
      self.root = root
      self.entersFolders = entersFolders
      visited = Set(SoundFolder.systemFolders.compactMap { FileIdentity(of: $0) })
      // The user may name such a folder.
      if let identity = FileIdentity(of: root) { visited.remove(identity) }
    }

    /// Searches a folder, given relative to the root, and its readable subfolders.
    mutating func enter(_ folder: String) throws(SystemError) {
      let (names, status) = try FileSystem.names(
        in: folder.isEmpty ? root : FileName.join(root, folder),
        atMost: 2 * SoundFolder.maximumFiles, bytes: SoundFolder.maximumNameBytes)
      guard visited.insert(FileIdentity(status)).inserted else { return }
      heldByteCount += names.byteCount
      defer { heldByteCount -= names.byteCount }
      var folders: [Int] = []
      for index in names.naturallySortedIndices {
        let name = names[index]
        guard name.utf8.first != UInt8(ascii: ".") else { continue }
        guard mayContinue else { return }
        let path = Self.path(folder, name)
        // Opening a pipe would block, and a device never ends.
        guard let status = FileStatus(of: FileName.join(root, path)) else { continue }
        if status.isFolder {
          if entersFolders { folders.append(index) }
        } else if status.isRegular, PathExtension.isSound(FileName.ending(of: name)) {
          found.append(path)
        }
      }
      for index in folders where mayContinue {
        let inner = Self.path(folder, names[index])
        do throws(SystemError) {
          try enter(inner)
        } catch {
          if error.isDenied { unreadable.append(FileName.join(root, inner)) }
        }
      }
    }

    /// Whether the limits allow more files.
    private var mayContinue: Bool {
      mutating get {
        if found.byteCount + heldByteCount > SoundFolder.maximumNameBytes { isTooLong = true }
        return !isTooLong && found.count <= SoundFolder.maximumFiles
      }
    }

    private static func path(_ folder: String, _ name: String) -> String {
      folder.isEmpty ? name : FileName.join(folder, name)
    }
  }
}
