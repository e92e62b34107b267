/// The parts of a sound file other than audio that are lost when it is written again: chunks of a
/// container and the entries of their lists, metadata blocks and comments of a FLAC file.
struct LostParts {
  private let bytes: BufferedBytes
  private let channelCount: Int
  /// The names found so far, each once.
  private var found: [String] = []

  /// Returns the names of the lost parts of the file in `bytes`.
  static func names(
    in bytes: BufferedBytes, _ format: FileFormat?, channelCount: Int
  ) throws(FileFailure) -> [String] {
    var parts = LostParts(bytes: bytes, channelCount: channelCount)
    if try bytes.endOfID3Tags() != 0 { parts.add("ID3") }
    switch format {
    case .wav, .rf64: try parts.addWaveParts()
    case .aiff: try parts.addChunks(.aiff, from: 12)
    case .caf: try parts.addChunks(.coreAudio, from: 8)
    case .w64: try parts.addChunks(.wave64, from: 40)
    case .flac: try parts.addBlocks()
    case .ogg, .opus, .mp3, .raw, nil: break
    }
    return parts.found
  }

  private init(bytes: BufferedBytes, channelCount: Int) {
    self.bytes = bytes
    self.channelCount = channelCount
  }

  private mutating func add(_ name: String) {
    let name = name.filter { $0 != " " }
    if !found.contains(name) { found.append(name) }
  }

  /// Adds `name` if it is not among the `kept` names, or occurs once more although only one of each
  /// is kept. Removes it from `kept` otherwise.
  private mutating func add(_ name: String, unlessIn kept: inout Set<String>) {
    if kept.remove(name) == nil { add(name) }
  }
}

/// WAV and RF64.
extension LostParts {
  /// Chunks that are written again, or that contain no information by themselves. `bext` and `LIST`
  /// are examined further.
  private static let keptWaveChunks: Set<String> = [
    "", "fmt ", "data", "fact", "ds64", "cue ", "JUNK", "junk", "PAD ", "FLLR",
  ]

  private mutating func addWaveParts() throws(FileFailure) {
    guard var chunks = try WaveChunks(bytes) else { return }
    var kept = Set(SoundFileTags.fields.map(\.chunk))
    for _ in 0..<ChunkWalk.maximumChunkCount {
      guard let chunk = try chunks.next() else { break }
      let contents = chunks.contents(of: chunk)
      switch chunk.identifier {
      case "bext":
        let count = min(contents.count, 1024)
        if try !Self.isPlain(bytes.bytes(at: contents.lowerBound, count: count)) { add("bext") }
      case "LIST":
        let entries = contents.dropFirst(4)
        switch try bytes.bytes(at: contents.lowerBound, count: 4).identifier(at: 0) {
        case "INFO": try addTags(in: entries, chunks.isBigEndian, &kept)
        case "adtl": try addLabels(in: entries, chunks.isBigEndian)
        default: add("LIST")
        }
      case let name where !Self.keptWaveChunks.contains(name): add(name)
      default: break
      }
    }
  }

  /// Adds the tags of a list `INFO` except one of each kind that is kept, if it is not too long.
  /// The name of the program (`ISFT`) is replaced.
  private mutating func addTags(
    in entries: Range<Int>, _ isBigEndian: Bool, _ kept: inout Set<String>
  ) throws(FileFailure) {
    let limits = SoundFileTags.fields.reduce(into: [:]) { $0[$1.chunk] = $1.waveByteCount }
    try visit(entries, isBigEndian) { parts, entry in
      guard entry.identifier != "ISFT", entry.size > 0 else { return }
      parts.add(entry.identifier, unlessIn: &kept)
      // A zero ends the text.
      if let limit = limits[entry.identifier], entry.size > limit + 1 {
        parts.add(entry.identifier)
      }
    }
  }

  /// Adds the entries of a list `adtl` other than the names of markers.
  private mutating func addLabels(
    in entries: Range<Int>, _ isBigEndian: Bool
  ) throws(FileFailure) {
    try visit(entries, isBigEndian) { parts, entry in
      if entry.identifier != "labl" { parts.add(entry.identifier) }
    }
  }

  /// Calls `body` with each whole entry of a list.
  private mutating func visit(
    _ entries: Range<Int>, _ isBigEndian: Bool, _ body: (inout LostParts, Chunk) -> Void
  ) throws(FileFailure) {
    try WaveChunks.visit(entries, of: bytes, isBigEndian: isBigEndian) { entry in
      guard entry.body <= entries.upperBound, !entry.identifier.isEmpty else { return false }
      body(&self, entry)
      return true
    }
  }

  /// Returns whether a chunk `bext` (EBU Tech 3285) contains only the time of the recording: no
  /// originator and no description except those of this program, no reference, no UMID and no
  /// coding history.
  private static func isPlain(_ bext: [UInt8]) -> Bool {
    func isEmpty(_ range: Range<Int>) -> Bool {
      bext.dropFirst(range.lowerBound).prefix(range.count).allSatisfy { $0 == 0 }
    }
    let isOurs = bext.dropFirst(256).starts(with: SoundFileTags.software.utf8)
    return (isOurs || isEmpty(0..<288)) && isEmpty(288..<320) && isEmpty(348..<412)
      && isEmpty(602..<1024)
  }
}

/// AIFF, CAF and Wave64.
extension LostParts {
  /// Chunks that are written again once, or that contain no information by themselves. `APPL` and
  /// `info` are examined further.
  private static let keptChunks: Set<String> = [
    "COMM", "SSND", "FVER", "NAME", "AUTH", "ANNO", "PEAK", "FLLR",
    "desc", "data", "free", "peak", "fmt ", "fact", "junk", "levl",
  ]
  /// The chunks of loudspeakers. The usual ones of one or two channels need none.
  private static let layouts: Set<String> = ["CHAN", "chan"]
  /// The names of the tags in the chunk `info` of CAF that are kept or, as the last two, replaced.
  private static let keptInformation: Set<String> = [
    "title", "artist", "album", "comment", "date", "software", "encoder",
  ]

  private mutating func addChunks(_ style: ChunkStyle, from start: Int) throws(FileFailure) {
    let walk = ChunkWalk(file: bytes, byteCount: bytes.byteCount ?? 0, style: style)
    var kept = Self.keptChunks
    if channelCount <= 2 { kept.formUnion(Self.layouts) }
    var parts = self
    _ = try walk.first(from: start) { (chunk) throws(FileFailure) -> Bool? in
      switch chunk.identifier {
      case "APPL":
        // libsndfile stores the name of the program after a signature.
        let text = try parts.bytes.bytes(at: chunk.body, count: 32).dropFirst(4)
        if !text.starts(with: SoundFileTags.software.utf8) { parts.add("APPL") }
      case "info": try parts.addInformation(chunk)
      case "free", "FLLR", "junk": break
      case let name: parts.add(name, unlessIn: &kept)
      }
      return nil
    }
    self = parts
  }

  /// Adds the tags of a chunk `info`: their number, then names and texts, each with a zero.
  private mutating func addInformation(_ chunk: Chunk) throws(FileFailure) {
    let contents = try bytes.bytes(
      at: chunk.body + 4, count: min(max(0, chunk.size - 4), BufferedBytes.maximumPeeked))
    var kept = Self.keptInformation
    let texts = contents.split(separator: 0, omittingEmptySubsequences: false)
    for index in stride(from: 0, to: texts.count - 1, by: 2) where !texts[index + 1].isEmpty {
      add(String(decoding: texts[index], as: UTF8.self).lowercased(), unlessIn: &kept)
    }
  }
}

/// FLAC.
extension LostParts {
  /// Adds the metadata blocks by their types (RFC 9639, section 8.1), and the comments.
  private mutating func addBlocks() throws(FileFailure) {
    let start = try bytes.endOfID3Tags() ?? 0
    guard try SoundContainer(beginning: bytes.bytes(at: start, count: 4)) == .flac else {
      return
    }
    var offset = start + 4
    for _ in 0..<ChunkWalk.maximumChunkCount {
      let head = try bytes.bytes(at: offset, count: 4)
      guard head.count == 4, let size = head.integer(at: 1, 3, bigEndian: true) else { break }
      switch head[0] & 0x7F {
      // The format, padding and seek points.
      case 0, 1, 3: break
      case 2: add("APPLICATION")
      case 4: try addComments(in: offset + 4..<offset + 4 + size)
      case 5: add("CUESHEET")
      case 6: add("PICTURE")
      case let type: add("block\(type)")
      }
      guard head[0] & 0x80 == 0 else { break }
      offset += 4 + size
    }
  }

  /// Adds the names of comments except one of each kind that is kept. The name of the program is
  /// replaced.
  private mutating func addComments(in block: Range<Int>) throws(FileFailure) {
    var kept = Set(SoundFileTags.fields.map(\.comment))
    func length(at offset: Int) throws(FileFailure) -> Int? {
      try bytes.bytes(at: offset, count: 4).integer(at: 0, 4, bigEndian: false)
    }
    guard let vendor = try length(at: block.lowerBound),
      let count = try length(at: block.lowerBound + 4 + vendor)
    else { return }
    var offset = block.lowerBound + 8 + vendor
    for _ in 0..<min(count, WaveChunks.maximumEntries) {
      guard offset < block.upperBound, let size = try length(at: offset) else { return }
      let text = try bytes.bytes(at: offset + 4, count: min(size, 64))
      let name = String(decoding: text.prefix { $0 != UInt8(ascii: "=") }, as: UTF8.self)
        .uppercased()
      offset += 4 + size
      switch name {
      case "SOFTWARE", "ENCODER": break
      case ChannelMask.comment where channelCount <= 2: break
      default: add(name, unlessIn: &kept)
      }
    }
  }
}
