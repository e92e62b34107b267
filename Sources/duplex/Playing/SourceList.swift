import AudioFiles

/// What is to be played: the files named, and those in the playlists and folders named.
struct SourceList {
  private(set) var addresses: [SourceAddress] = []

  /// Playlists may name playlists, but not for ever.
  private static let deepest = 8

  /// Waits for a network where a playlist lies behind one. Throws what is wrong with a playlist or
  /// folder, or with the first address.
  init(_ sources: [String]) throws(FileFailure) {
    for source in sources {
      let name = FileAddress.path(of: source) ?? source
      let first = addresses.count
      try add(name, depth: 0)
      let named = SourceAddress(name).location
      for index in first..<addresses.count {
        addresses[index].isFound = addresses[index].location != named
      }
    }
  }

  private mutating func add(_ source: String, depth: Int) throws(FileFailure) {
    if SourceAddress.isRemote(source) {
      try add(SourceAddress(source), depth: depth)
    } else if SoundFolder.isFolder(source) {
      addresses += try SoundFolder.files(in: source).map { SourceAddress($0) }
    } else if Playlist.isPlaylist(source) {
      try add(try Playlist.entries(of: source), of: source, depth: depth)
    } else {
      addresses.append(SourceAddress(source))
    }
  }

  /// What the playlist `name` names.
  private mutating func add(
    _ entries: [String], of name: String, depth: Int
  ) throws(FileFailure) {
    guard depth < Self.deepest else {
      throw FileFailure(
        .unusableContents, "\(name) is a playlist in too many others, or in itself.",
        hint: "Name its files in one playlist.")
    }
    for entry in entries { try add(entry, depth: depth + 1) }
  }

  /// A remote source. Where its name does not say what it is, its server does, for those the user
  /// named: a playlist may have named many.
  private mutating func add(_ address: SourceAddress, depth: Int) throws(FileFailure) {
    let path = String(address.location.prefix { $0 != "?" && $0 != "#" })
    let isPlaylist = Playlist.isPlaylist(path)
    let ending = path.lastIndex(of: ".").map { String(path[$0...]) } ?? ""
    guard isPlaylist || (depth == 0 && !Decoding.supports(format: ending)) else {
      addresses.append(address)
      return
    }
    let found: RemoteContents
    do throws(FileFailure) {
      found = try RemoteContents(of: address, isPlaylist: isPlaylist)
    } catch {
      // What is wrong with a later one is told at its turn.
      guard isPlaylist || addresses.isEmpty else { return addresses.append(address) }
      throw error
    }
    switch found {
    case .playlist(let entries):
      try add(entries, of: address.name, depth: depth)
    case .sound(let decoder):
      var address = address
      // A later one would only keep its server waiting.
      if addresses.isEmpty { address.opened = OpenedSource(address, decoder) }
      addresses.append(address)
    }
  }
}

/// What lies behind an address.
private enum RemoteContents {
  case playlist([String])
  case sound(any SoundDecoder)

  /// Asks its server. `isPlaylist` where its name says so already.
  init(of address: SourceAddress, isPlaylist: Bool) throws(FileFailure) {
    let location = address.location
    self = try AttendedOpening.result(of: address.name) { opening throws(FileFailure) in
      let file = try opening.file(ofAddress: location)
      if isPlaylist || file.contentType.map(Playlist.isPlaylist(contentType:)) ?? false {
        return .playlist(try Playlist.entries(of: file))
      }
      return .sound(try opening.decoder(of: file))
    }
  }
}
