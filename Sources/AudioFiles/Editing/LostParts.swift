/// What a sound file holds beside its sound that is lost where it is written again.
enum LostParts {
  /// Chunks of WAV files that are written again, or that say nothing by themselves.
  private static let keptChunks: Set<String> = [
    "fmt ", "data", "fact", "ds64", "LIST", "cue ", "bext", "JUNK", "junk", "PAD ", "FLLR",
  ]

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
      guard !keptChunks.contains(name), !names.contains(name) else { continue }
      names.append(name)
    }
    return names.map { $0.filter { $0 != " " } }
  }

  /// By the types of metadata blocks (RFC 9639, section 8.1).
  private static func blocks(in bytes: BufferedBytes) throws(FileFailure) -> [String] {
    var names: [String] = []
    var place = 4
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
