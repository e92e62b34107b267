import AudioFiles

/// The folders of a recording that were renamed, or moved, while it was recorded.
struct FolderMoves {
  /// The present path of each folder that has another one than at first.
  private var places: [String: String] = [:]
  /// The folder of the growing file.
  private var identity: FileIdentity?

  /// Remembers the folder of `path`, the file that begins.
  mutating func begin(_ path: String) {
    identity = FileIdentity(of: FileName.folder(of: path))
  }

  /// Returns the path that `path` has now, if its folder was renamed.
  func place(of path: String) -> String {
    let folder = FileName.folder(of: path)
    return places[folder].flatMap { FolderMove(from: folder, to: $0).place(of: path) } ?? path
  }

  /// Notes that the growing file has the path `new` instead of `old`. Returns the old and the new
  /// path of its folder; nil if only the file was renamed or moved.
  mutating func note(_ old: String, _ new: String) -> FolderMove? {
    let move = FolderMove(from: FileName.folder(of: old), to: FileName.folder(of: new))
    guard move.from != move.to, let identity, FileIdentity(of: move.to) == identity else {
      return nil
    }
    for (first, last) in places where last == move.from { places[first] = move.to }
    places[move.from] = move.to
    places[move.to] = nil
    return move
  }
}

/// A change of a folder's path.
struct FolderMove {
  let from: String
  let to: String

  /// Returns the path that a file with the path `path` in the folder has after the move; nil if it
  /// is in another folder.
  func place(of path: String) -> String? {
    guard FileName.folder(of: path) == from else { return nil }
    return FileName.join(to, String(FileName.last(of: path)))
  }

  /// Returns `file` with its path after the move, if it is there.
  func followed(_ file: RecordedFile) -> RecordedFile {
    guard let place = place(of: file.path), FileIdentity(of: place) != nil,
      FileIdentity(of: file.path) == nil
    else { return file }
    var file = file
    file.path = place
    return file
  }
}
