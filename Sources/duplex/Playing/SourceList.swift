import AudioFiles

/// What is to be played: the files named, and those in the playlists and folders named.
struct SourceList {
  private(set) var addresses: [SourceAddress] = []

  /// Playlists may name playlists, but not for ever.
  private static let deepest = 8

  init(_ sources: [String]) throws(FileFailure) {
    for source in sources { try add(source, depth: 0) }
  }

  private mutating func add(_ source: String, depth: Int) throws(FileFailure) {
    if SoundFolder.isFolder(source) {
      addresses += try SoundFolder.files(in: source).map { SourceAddress($0) }
    } else if Playlist.isPlaylist(source), !SourceAddress.isRemote(source) {
      guard depth < Self.deepest else {
        throw FileFailure(
          .unusableContents, "\(source) is a playlist in too many others.",
          hint: "Name its files in one playlist.")
      }
      for entry in try Playlist.entries(of: source) { try add(entry, depth: depth + 1) }
    } else {
      addresses.append(SourceAddress(source))
    }
  }
}
