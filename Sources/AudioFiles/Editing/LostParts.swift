/// The parts of a sound file other than audio that are lost when it is written again: chunks of a
/// WAV or RF64 file, metadata blocks of a FLAC file.
enum LostParts {
  /// Chunks of WAV files that are written again, or that contain no information by themselves.
  /// `bext` and `LIST` are examined further.
  private static let keptChunks: Set<String> = [
    "", "fmt ", "data", "fact", "ds64", "cue ", "JUNK", "junk", "PAD ", "FLLR",
  ]
  /// Lists of tags, and of the labels of markers.
  private static let keptLists: Set<String> = ["INFO", "adtl"]

  /// Returns their names: chunks of a WAV file, and blocks of a FLAC file other than tags.
  static func names(in bytes: BufferedBytes, _ format: FileFormat?) throws(FileFailure) -> [String]
  {
    switch format {
    case .wav, .rf64: try chunks(in: bytes)
    case .flac: try blocks(in: bytes)
    default: []
    }
  }

  private static func chunks(in bytes: BufferedBytes) throws(FileFailure) -> [String] {
    guard var chunks = try WaveChunks(bytes) else { return [] }
    var names: [String] = []
    for _ in 0..<ChunkWalk.maximumChunkCount {
      guard let chunk = try chunks.next() else { break }
      let name = chunk.identifier
      let contents = chunks.contents(of: chunk)
      let isKept =
        switch name {
        case "bext":
          isPlain(try bytes.bytes(at: contents.lowerBound, count: min(contents.count, 1024)))
        case "LIST":
          keptLists.contains(
            try bytes.bytes(at: contents.lowerBound, count: 4).identifier(at: 0) ?? "")
        default: keptChunks.contains(name)
        }
      if !isKept, !names.contains(name) { names.append(name) }
    }
    return names.map { $0.filter { $0 != " " } }
  }

  /// Returns whether a chunk `bext` (EBU Tech 3285) contains only the time of the recording: no
  /// description except in a recording by this program, no reference, no UMID and no coding
  /// history.
  private static func isPlain(_ bext: [UInt8]) -> Bool {
    func isEmpty(_ range: Range<Int>) -> Bool {
      bext.dropFirst(range.lowerBound).prefix(range.count).allSatisfy { $0 == 0 }
    }
    let isOurs = bext.dropFirst(256).starts(with: "duplex".utf8)
    return (isOurs || isEmpty(0..<256)) && isEmpty(288..<320) && isEmpty(348..<412)
      && isEmpty(602..<1024)
  }

  /// Returns the names by the types of metadata blocks (RFC 9639, section 8.1).
  private static func blocks(in bytes: BufferedBytes) throws(FileFailure) -> [String] {
    var names: [String] = []
    let start = try bytes.endOfID3Tags() ?? 0
    guard try SoundContainer(beginning: bytes.bytes(at: start, count: 4)) == .flac else {
      return []
    }
    var offset = start + 4
    for _ in 0..<ChunkWalk.maximumChunkCount {
      let head = try bytes.bytes(at: offset, count: 4)
      guard head.count == 4, let size = head.integer(at: 0, 4, bigEndian: true) else { break }
      let name: String? =
        switch head[0] & 0x7F {
        case 2: "APPLICATION"
        case 5: "CUESHEET"
        case 6: "PICTURE"
        default: nil
        }
      if let name, !names.contains(name) { names.append(name) }
      guard head[0] & 0x80 == 0 else { break }
      offset += 4 + size & 0xFF_FFFF
    }
    return names
  }
}
