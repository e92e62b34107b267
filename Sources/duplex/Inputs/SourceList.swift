import AudioBasics
import AudioFiles

/// The sources to be played: the named files, and those in the named playlists and folders. For
/// 100,000 sources only their names are in memory.
struct SourceList: RandomAccessCollection, Sendable {
  /// The names as they were written, with the range to play.
  private var names = NameList()
  /// Whether each source was found in a list and not named by the user, by its number.
  private var isFound: [Bool] = []
  private var refusals: [Int: FileFailure] = [:]
  private var opened: [Int: OpenedSource] = [:]
  /// The numbers of the names in the order of playback; nil if they are played as listed.
  private var order: [Int]?
  /// The playlists that are being read, each within the one before.
  private var open: [String] = []
  /// The number of bytes of the names in these playlists that have not been added yet.
  private var pendingByteCount = 0
  /// The number of playlists and folders read so far, and the number of those fetched over a
  /// network.
  private var readCount = 0
  private var fetchCount = 0
  private var fetchSeconds = 0.0
  /// Whether a limit was exceeded, which is a failure of the whole list.
  private var hasExceededLimit = false

  /// The maximum nesting depth of playlists.
  private static let deepest = 8
  private static let maximumLists = 1000
  private static let maximumFetches = 64
  /// The total time in seconds for which servers are waited for before playback starts.
  private static let maximumFetchSeconds = 40.0
  /// The maximum size of all names in bytes: 100,000 names of 250 bytes each.
  private static let maximumNameBytes = 24 << 20

  /// Collects the files of `sources`. Waits for the network if a playlist is at an address. Throws
  /// if a local playlist or folder cannot be read, if the only source is an address that cannot be
  /// read, or if a limit is exceeded.
  init(_ sources: [String]) throws(FileFailure) {
    try Self.checkPipes(sources)
    for source in sources {
      let name = FileAddress.path(of: source) ?? source
      let first = count
      do throws(FileFailure) {
        try add(name)
      } catch {
        // The failure of one address of several is reported at its turn, and the others are played.
        guard sources.count > 1, SourceAddress.isRemote(name), !hasExceededLimit else {
          throw error
        }
        try append(name, foundIn: name)
        refusals[count - 1] = error
      }
      let named = SourceAddress(name).location
      for index in first..<count {
        // An entry with a refusal counts as found in a list, even if it is the list itself.
        isFound[index] = refusals[index] != nil || self[index].location != named
      }
    }
  }

  /// Throws if standard input or another pipe is among `sources` more than once.
  static func checkPipes(_ sources: [String]) throws(FileFailure) {
    guard sources.count(where: { $0 == "-" }) < 2 else {
      throw FileFailure(
        .invalidRequest, "Standard input is named twice, and can be read only once.",
        hint: "Name - once.")
    }
    var pipes: Set<FileIdentity> = []
    for source in sources {
      guard let pipe = FileIdentity(ofPipe: source) else { continue }
      guard pipes.insert(pipe).inserted else { throw .readOnce(Self.shown(source)) }
    }
  }

  /// Throws if one of `sources` is a pipe, which cannot be played again after its end.
  static func checkRepeatable(_ sources: [String]) throws(FileFailure) {
    guard let source = sources.first(where: { FileIdentity(ofPipe: $0) != nil }) else { return }
    throw FileFailure(
      .invalidRequest,
      "\(shown(source)) can be read only once, so it cannot be played again.",
      hint: "Leave out --repeat, or save the sound to a file first.")
  }

  private static func shown(_ source: String) -> String {
    source == "-" ? "Standard input" : source
  }

  var startIndex: Int { 0 }
  var endIndex: Int { names.count }

  subscript(index: Int) -> SourceAddress {
    let number = order?[index] ?? index
    var address = SourceAddress(names[number])
    address.isFound = isFound[number]
    address.refusal = refusals[number]
    address.opened = opened[number]
    return address
  }

  /// Brings the sources into a random order, which is the same in each run for the same `seed`.
  mutating func shuffle(seed: UInt64?) {
    var numbers = SplitMix64(seed: seed ?? .random(in: .min ... .max))
    order = indices.shuffled(using: &numbers)
  }

  /// Adds the sources of `other` after the existing ones.
  mutating func append(_ other: SourceList) {
    for index in other.indices {
      refusals[count] = other.refusals[index]
      opened[count] = other.opened[index]
      names.append(other.names[index])
      isFound.append(other.isFound[index])
    }
  }

  private mutating func add(_ source: String) throws(FileFailure) {
    if SourceAddress.isRemote(source) {
      try addRemote(source)
    } else if SoundFolder.isFolder(source) {
      try countReading(of: source)
      let files = try SoundFolder.files(in: source)
      files.warnOfUnreadableFolders()
      try add(files, of: source) {
        (list, file) throws(FileFailure) in try list.append(file, foundIn: source)
      }
    } else if Playlist.isPlaylist(source) {
      try begin(source)
      try add(entries: try Playlist.entries(of: source), of: source)
    } else {
      try append(source, foundIn: source)
    }
  }

  private mutating func append(_ source: String, foundIn name: String) throws(FileFailure) {
    guard count < Playlist.maximumEntries else {
      throw limitFailure(name, "\(Playlist.maximumEntries) files")
    }
    names.append(source)
    isFound.append(false)
    guard names.byteCount + pendingByteCount <= Self.maximumNameBytes else {
      throw limitFailure(name, "\(Self.maximumNameBytes >> 20) MiB of names")
    }
  }

  /// Counts the playlist `name` as read. Throws if it contains itself, is nested too deeply, or
  /// exceeds a limit.
  private mutating func begin(_ name: String) throws(FileFailure) {
    try countReading(of: name)
    guard !open.contains(name), open.count < Self.deepest else {
      throw FileFailure(
        .unusableContents,
        "\(SourceAddress(name).name) is nested too deeply in playlists, or contains itself.",
        hint: "List all files in one playlist.")
    }
    guard SourceAddress.isRemote(name) else { return }
    fetchCount += 1
    guard fetchCount <= Self.maximumFetches else {
      throw limitFailure(name, "\(Self.maximumFetches) playlists on servers")
    }
  }

  /// Counts a playlist or folder that is read. Throws if a list leads to more than `maximumLists`
  /// of them.
  private mutating func countReading(of name: String) throws(FileFailure) {
    readCount += 1
    // The limit applies only to entries of playlists: the user may name any number of lists.
    guard readCount <= Self.maximumLists || open.isEmpty else {
      throw limitFailure(name, "\(Self.maximumLists) playlists and folders")
    }
  }

  private mutating func limitFailure(_ name: String, _ count: String) -> FileFailure {
    hasExceededLimit = true
    return FileFailure(
      .unusableContents,
      "\(SourceAddress(open.first ?? name).name) contains more than \(count).",
      hint: "Play one part of the list at a time.")
  }

  /// Adds the entries of the playlist `name`.
  private mutating func add(entries: NamedFiles, of name: String) throws(FileFailure) {
    open.append(name)
    defer { open.removeLast() }
    try add(entries, of: name) { (list, entry) throws(FileFailure) in
      do throws(FileFailure) {
        try list.add(entry)
      } catch {
        // The failure of one entry is reported at its turn, and the others are played.
        guard !list.hasExceededLimit else { throw error }
        try list.append(entry, foundIn: name)
        list.refusals[list.count - 1] = error
      }
    }
  }

  /// Calls `add` for each entry of the playlist or folder `name`.
  private mutating func add(
    _ files: NamedFiles, of name: String,
    _ add: (inout SourceList, String) throws(FileFailure) -> Void
  ) throws(FileFailure) {
    var files = files
    pendingByteCount += files.byteCount
    defer { pendingByteCount -= files.byteCount }
    var rest = files.byteCount
    while let file = files.next() {
      pendingByteCount -= rest - files.byteCount
      rest = files.byteCount
      try add(&self, file)
    }
  }

  /// Adds a remote source. If its name shows neither a playlist nor a supported format, the server
  /// is asked, but only for sources that the user named: a playlist may contain many.
  private mutating func addRemote(_ source: String) throws(FileFailure) {
    let address = SourceAddress(source)
    let name = address.location
    let path = String(name.prefix { $0 != "?" && $0 != "#" })
    let isPlaylist = Playlist.isPlaylist(path)
    let ending = path.lastIndex(of: ".").map { String(path[$0...]) } ?? ""
    guard isPlaylist || (open.isEmpty && !Decoding.supports(format: ending)) else {
      return try append(source, foundIn: name)
    }
    if isPlaylist { try begin(name) }
    let found: RemoteContents
    do throws(FileFailure) {
      found = try fetch(address, isPlaylist: isPlaylist)
    } catch {
      // The failure of a later source is reported at its turn.
      guard isPlaylist || isEmpty else { return try append(source, foundIn: name) }
      throw error
    }
    switch found {
    case .playlist(let entries):
      try add(entries: entries, of: name)
    case .sound(let decoder):
      try append(source, foundIn: name)
      // Keeping a later source open would keep its server waiting.
      if count == 1 { opened[0] = OpenedSource(address, decoder) }
    }
  }
}

extension SourceList {
  /// Reads the contents at `address`, within the time that is left for all servers together.
  private mutating func fetch(
    _ address: SourceAddress, isPlaylist: Bool
  ) throws(FileFailure) -> RemoteContents {
    let rest = Self.maximumFetchSeconds - fetchSeconds
    let began = SteadyTime()
    defer { fetchSeconds += began.seconds }
    do throws(FileFailure) {
      guard rest > 0 else { throw .tooSlow(address.name, Self.maximumFetchSeconds) }
      return try RemoteContents(of: address, isPlaylist: isPlaylist, within: rest)
    } catch {
      throw began.seconds > rest ? .tooSlow(address.name, Self.maximumFetchSeconds) : error
    }
  }
}

extension FileFailure {
  fileprivate static func tooSlow(_ name: String, _ seconds: Double) -> FileFailure {
    FileFailure(
      .cannotOpen,
      "\(name) was not read: the servers before it took \(seconds.shown(0)) s.",
      hint: "Play this address alone, or try again later.")
  }
}

/// The contents at a remote address: a playlist or audio.
private enum RemoteContents {
  case playlist(NamedFiles)
  case sound(any SoundDecoder)

  /// Reads the contents from the server. `isPlaylist` is true if the name already shows a playlist.
  init(
    of address: SourceAddress, isPlaylist: Bool, within seconds: Double
  ) throws(FileFailure) {
    let location = address.location
    self = try InterruptibleOpening.result(
      of: address.name, within: seconds, orThrowing: FileFailure.noThread
    ) { opening throws(FileFailure) in
      let file = try opening.file(ofAddress: location)
      let isList = if isPlaylist { true } else { try Playlist.isPlaylist(file) }
      return isList
        ? .playlist(try Playlist.entries(of: file)) : .sound(try opening.decoder(of: file))
    }
  }
}

extension NamedFiles {
  /// Warns about the unreadable folders within a listed folder: about a few each, and about the
  /// number of the others.
  func warnOfUnreadableFolders() {
    let shown = unreadableFolders.count > 5 ? 3 : unreadableFolders.count
    for folder in unreadableFolders.prefix(shown) {
      warn(
        "folderLeftOut", "\(folder) may not be read: the files in it are left out.",
        hint: "Check the permissions of the folder.")
    }
    let rest = unreadableFolders.count - shown
    guard rest > 0 else { return }
    warn(
      "folderLeftOut", "\(rest) further folders may not be read: the files in them are left out.",
      hint: "Name the folders that are meant.")
  }
}
