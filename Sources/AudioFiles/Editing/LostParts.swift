/// Parts of a sound file beside its sound that are lost when it is written again: chunks of a WAV
/// or RF64 file, metadata blocks of a FLAC file.
enum LostParts {
  /// Chunks of WAV files that are written again, or that say nothing by themselves. Of `bext` and
  /// `LIST` more is looked at.
  private static let keptChunks: Set<String> = [
    "", "fmt ", "data", "fact", "ds64", "cue ", "JUNK", "junk", "PAD ", "FLLR",
  ]
  /// Lists of tags, and of what markers are called.
  private static let keptLists: Set<String> = ["INFO", "adtl"]

  /// Their names: chunks of a WAV file, and blocks of a FLAC file that are no tags.
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
    for _ in 0..<ChunkWalk.most {
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

  /// Whether a chunk `bext` (EBU Tech 3285) says no more than when the sound was recorded: no
  /// description but that of a recording of ours, no reference, no UMID and no history of its
  /// coding.
  private static func isPlain(_ bext: [UInt8]) -> Bool {
    func isEmpty(_ range: Range<Int>) -> Bool {
      bext.dropFirst(range.lowerBound).prefix(range.count).allSatisfy { $0 == 0 }
    }
    let isOurs = bext.dropFirst(256).starts(with: "duplex".utf8)
    return (isOurs || isEmpty(0..<256)) && isEmpty(288..<320) && isEmpty(348..<412)
      && isEmpty(602..<1024)
  }

  /// By the types of metadata blocks (RFC 9639, section 8.1).
  private static func blocks(in bytes: BufferedBytes) throws(FileFailure) -> [String] {
    var names: [String] = []
    let start = try bytes.endOfID3Tags() ?? 0
    guard try bytes.bytes(at: start, count: 4).identifier(at: 0) == "fLaC" else { return [] }
    var place = start + 4
    for _ in 0..<ChunkWalk.most {
      let head = try bytes.bytes(at: place, count: 4)
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
      place += 4 + size & 0xFF_FFFF
    }
    return names
  }
}
