/// One chunk of a file, as its head describes it.
struct Chunk {
  /// Its four letters.
  let identifier: String
  let start: Int
  /// Where its contents begin.
  let body: Int
  /// How long it says its contents are; may be absurd. Negative where the head says so.
  let size: Int
}

/// Bytes that can be had from any offset.
protocol PlacedBytes: AnyObject {
  /// As many of the `count` bytes from `offset` on as there are.
  func bytes(at offset: Int, count: Int) throws(FileFailure) -> [UInt8]
}

extension PlacedBytes {
  /// ID3 tags that are passed, one behind the other.
  private static var mostTags: Int { 1000 }

  /// Where the file begins behind ID3 tags, which programs put before other kinds than MP3 as well;
  /// nil where there are too many. libsndfile knows of no footers.
  func endOfID3Tags(withFooters: Bool = true) throws(FileFailure) -> Int? {
    var offset = 0
    for _ in 0..<Self.mostTags {
      guard let head = ID3Head(try bytes(at: offset, count: ID3Head.byteCount)) else {
        return offset
      }
      offset += head.byteCount - (head.hasFooter && !withFooters ? ID3Head.byteCount : 0)
    }
    return nil
  }
}

/// Iterates over the chunks of a file, and checks each size against the length of the file.
struct ChunkWalk {
  let file: any PlacedBytes
  /// Bytes of the file.
  let byteCount: Int
  let style: ChunkStyle

  /// Chunks that are gone through, at most.
  static let most = 4096

  /// What `look` has to say of a chunk, the first time that it has: of those from `offset` on, each
  /// of which lies behind the one before. nil where none is left.
  func first<Answer>(
    from offset: Int, _ look: (Chunk) throws(FileFailure) -> Answer?
  ) throws(FileFailure) -> Answer? {
    var offset = offset
    for _ in 0..<Self.most {
      guard let chunk = try chunk(at: offset) else { return nil }
      if let answer = try look(chunk) { return answer }
      guard let next = next(after: chunk) else { return nil }
      offset = next
    }
    return nil
  }

  /// What the bytes at `offset` say as the head of a chunk; nil where no letters stand there.
  func chunk(at offset: Int) throws(FileFailure) -> Chunk? {
    chunk(try file.bytes(at: offset, count: style.headByteCount), at: offset)
  }

  func chunk(_ head: [UInt8], at offset: Int) -> Chunk? {
    guard head.count == style.headByteCount, let identifier = head.identifier(at: 0),
      hasGenuineTail(head),
      let bits = head.number(
        at: style.identifierByteCount, style.sizeByteCount, bigEndian: style.isBigEndian)
    else { return nil }
    var size = style.sizeByteCount == 8 ? Int(Int64(bitPattern: bits)) : Int(bits)
    if style.countsHead { size = size >= style.headByteCount ? size - style.headByteCount : -1 }
    return Chunk(
      identifier: identifier, start: offset, body: offset + style.headByteCount, size: size)
  }

  /// Where the contents of `chunk` end; nil where that is beyond the file.
  func end(of chunk: Chunk) -> Int? {
    guard chunk.size >= 0, chunk.size <= byteCount - chunk.body else { return nil }
    return chunk.body + chunk.size
  }

  /// Where the chunk behind `chunk` begins; nil where it is torn.
  func next(after chunk: Chunk) -> Int? {
    end(of: chunk).map { chunk.body + style.aligned($0 - chunk.body) }
  }

  /// The GUIDs of Wave64 differ in their first four bytes only.
  private func hasGenuineTail(_ head: [UInt8]) -> Bool {
    guard style.identifierByteCount == 16 else { return true }
    return head[4..<16].elementsEqual([
      0xF3, 0xAC, 0xD3, 0x11, 0x8C, 0xD1, 0x00, 0xC0, 0x4F, 0x8E, 0xDB, 0x8A,
    ])
      || head[4..<16].elementsEqual([
        0x2E, 0x91, 0xCF, 0x11, 0xA5, 0xD6, 0x28, 0xDB, 0x04, 0xC1, 0x00, 0x00,
      ])
  }
}

/// Chunk layout of a family of sound files.
struct ChunkStyle: Sendable {
  let isBigEndian: Bool
  /// Bytes of an identifier: four letters, or the sixteen bytes of a GUID that begins with them.
  let identifierByteCount: Int
  let sizeByteCount: Int
  /// Every chunk begins at a multiple of this.
  let alignment: Int
  /// Whether a size counts the identifier and itself.
  let countsHead: Bool
  /// What may stand behind the samples.
  let knownIdentifiers: Set<String>

  var headByteCount: Int { identifierByteCount + sizeByteCount }

  static let wave = ChunkStyle(
    isBigEndian: false, identifierByteCount: 4, sizeByteCount: 4, alignment: 2, countsHead: false,
    knownIdentifiers: [
      "LIST", "cue ", "smpl", "inst", "bext", "iXML", "id3 ", "ID3 ", "PEAK", "fact", "axml",
      "cart",
      "DISP", "plst", "acid", "_PMX", "afsp", "JUNK", "junk", "PAD ", "FLLR", "levl", "umid",
      "chna",
      "minf", "elm1", "regn", "strc", "ResU", "SNDM", "labl", "note", "data", "fmt ",
    ])
  static let wave64 = ChunkStyle(
    isBigEndian: false, identifierByteCount: 16, sizeByteCount: 8, alignment: 8, countsHead: true,
    knownIdentifiers: ["list", "fact", "levl", "junk", "bext", "mark", "summ", "data", "fmt "])
  static let aiff = ChunkStyle(
    isBigEndian: true, identifierByteCount: 4, sizeByteCount: 4, alignment: 2, countsHead: false,
    knownIdentifiers: [
      "COMM", "MARK", "INST", "NAME", "AUTH", "(c) ", "ANNO", "APPL", "COMT", "MIDI", "AESD",
      "ID3 ",
      "PEAK", "CHAN", "FVER", "basc", "trns", "cate", "SSND", "FLLR", "SAXL",
    ])
  static let coreAudio = ChunkStyle(
    isBigEndian: true, identifierByteCount: 4, sizeByteCount: 8, alignment: 1, countsHead: false,
    knownIdentifiers: [
      "info", "mark", "regn", "strg", "uuid", "peak", "chan", "kuki", "pakt", "free", "midi",
      "ovvw",
      "umid", "iXML", "inst", "cues", "desc", "data", "edct",
    ])

  /// The bytes of a size field.
  func field(_ size: Int) -> [UInt8] { [UInt8](size, sizeByteCount, bigEndian: isBigEndian) }

  /// `offset`, or the next one where a chunk may begin.
  func aligned(_ offset: Int) -> Int { (offset + alignment - 1) / alignment * alignment }
}
