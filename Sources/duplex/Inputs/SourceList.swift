import AudioFiles

/// What is to be played: the files named, and those in the playlists and folders named.
struct SourceList {
  private(set) var addresses: [SourceAddress] = []
  /// The playlists that are being read, one within the other.
  private var open: [String] = []
  /// Playlists read so far, and how many of them came over a network.
  private var readCount = 0
  private var fetchCount = 0
  /// Whether there is more than can be played, which is wrong with the whole.
  private var hasLedTooFar = false

  /// Playlists may name playlists, but not for ever.
  private static let deepest = 8
  private static let mostPlaylists = 1000
  private static let mostFetches = 64

  /// Waits for a network where a playlist lies behind one. Throws what is wrong with a playlist or
  /// folder, or with the first address.
  init(_ sources: [String]) throws(FileFailure) {
    for source in sources {
      let name = FileAddress.path(of: source) ?? source
      let first = addresses.count
      try add(name)
      let named = SourceAddress(name).location
      for index in first..<addresses.count {
        // What a list refuses lies in it, even if it is the list itself.
        let isListed = addresses[index].refusal != nil
        addresses[index].isFound = isListed || addresses[index].location != named
      }
    }
  }

  private mutating func add(_ source: String) throws(FileFailure) {
    if SourceAddress.isRemote(source) {
      try addRemote(SourceAddress(source))
    } else if SoundFolder.isFolder(source) {
      for file in try SoundFolder.files(in: source) {
        try append(SourceAddress(file), foundIn: source)
      }
    } else if Playlist.isPlaylist(source) {
      try begin(source)
      try add(try Playlist.entries(of: source), of: source)
    } else {
      try append(SourceAddress(source), foundIn: source)
    }
  }

  private mutating func append(
    _ address: SourceAddress, foundIn name: String
  ) throws(FileFailure) {
    guard addresses.count < Playlist.mostEntries else {
      throw leadsTooFar(name, "\(Playlist.mostEntries) files")
    }
    addresses.append(address)
  }

  /// Refuses to read the playlist `name` where that leads nowhere.
  private mutating func begin(_ name: String) throws(FileFailure) {
    guard !open.contains(name), open.count < Self.deepest else {
      throw FileFailure(
        .unusableContents,
        "\(SourceAddress(name).name) is a playlist in too many others, or in itself.",
        hint: "Name its files in one playlist.")
    }
    readCount += 1
    guard readCount <= Self.mostPlaylists else {
      throw leadsTooFar(name, "\(Self.mostPlaylists) playlists")
    }
    guard SourceAddress.isRemote(name) else { return }
    fetchCount += 1
    guard fetchCount <= Self.mostFetches else {
      throw leadsTooFar(name, "\(Self.mostFetches) playlists on servers")
    }
  }

  private mutating func leadsTooFar(_ name: String, _ count: String) -> FileFailure {
    hasLedTooFar = true
    return FileFailure(
      .unusableContents,
      "\(SourceAddress(open.first ?? name).name) leads to more than \(count).",
      hint: "Play a part of it at a time.")
  }

  /// What the playlist `name` names.
  private mutating func add(_ entries: [String], of name: String) throws(FileFailure) {
    open.append(name)
    defer { open.removeLast() }
    // A list of a hundred thousand must not be copied as it grows.
    let wanted = addresses.count + entries.count
    if wanted > 2 * addresses.capacity { addresses.reserveCapacity(wanted) }
    for entry in entries {
      do throws(FileFailure) {
        try add(entry)
      } catch {
        // What is wrong with one of them is told at its turn, and the others are played.
        guard !hasLedTooFar else { throw error }
        var address = SourceAddress(entry)
        address.refusal = SourceAddress.Refusal(error)
        try append(address, foundIn: name)
      }
    }
  }

  /// A remote source. Where its name does not say what it is, its server does, for those the user
  /// named: a playlist may have named many.
  private mutating func addRemote(_ address: SourceAddress) throws(FileFailure) {
    let name = address.location
    let path = String(name.prefix { $0 != "?" && $0 != "#" })
    let isPlaylist = Playlist.isPlaylist(path)
    let ending = path.lastIndex(of: ".").map { String(path[$0...]) } ?? ""
    guard isPlaylist || (open.isEmpty && !Decoding.supports(format: ending)) else {
      return try append(address, foundIn: name)
    }
    if isPlaylist { try begin(name) }
    let found: RemoteContents
    do throws(FileFailure) {
      found = try RemoteContents(of: address, isPlaylist: isPlaylist)
    } catch {
      // What is wrong with a later one is told at its turn.
      guard isPlaylist || addresses.isEmpty else { return try append(address, foundIn: name) }
      throw error
    }
    switch found {
    case .playlist(let entries):
      try add(entries, of: name)
    case .sound(let decoder):
      var address = address
      // A later one would only keep its server waiting.
      if addresses.isEmpty { address.opened = OpenedSource(address, decoder) }
      try append(address, foundIn: name)
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
    self = try InterruptibleOpening.result(of: address.name) { opening throws(FileFailure) in
      let file = try opening.file(ofAddress: location)
      if isPlaylist || file.contentType.map(Playlist.isPlaylist(contentType:)) ?? false {
        return .playlist(
          try file.probe { () throws(FileFailure) in try Playlist.entries(of: file) })
      }
      return .sound(try opening.decoder(of: file))
    }
  }
}
