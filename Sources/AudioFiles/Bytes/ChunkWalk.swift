/// One chunk of a file, as described by its header.
struct Chunk {
  /// The chunk's four-letter identifier.
  let identifier: String
  let start: Int
  /// The offset of the chunk's contents in the file, in bytes.
  let body: Int
  /// The size of the contents in bytes, as given by the header. The value is not checked and may
  /// exceed the file. Negative if the header gives a negative size, or one smaller than the header.
  let size: Int
}

/// Bytes that can be read at any offset.
protocol RandomAccessBytes: AnyObject {
  /// Returns the `count` bytes from `offset` on, or fewer if the file ends before.
  func bytes(at offset: Int, count: Int) throws(FileFailure) -> [UInt8]
}

extension RandomAccessBytes {
  /// The maximum number of consecutive ID3 tags that are skipped.
  private static var maximumTags: Int { 1000 }

  /// Returns the offset of the file's first byte after any leading ID3 tags; nil if there are too
  /// many tags. Some programs write ID3 tags to other formats than MP3 as well. libsndfile does not
  /// support ID3 footers: pass false for `withFooters` to compute the offset that it uses.
  func endOfID3Tags(withFooters: Bool = true) throws(FileFailure) -> Int? {
    var offset = 0
    for _ in 0..<Self.maximumTags {
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
  let file: any RandomAccessBytes
  /// The length of the file in bytes.
  let byteCount: Int
  let style: ChunkStyle

  /// The maximum number of chunks that are visited.
  static let maximumChunkCount = 4096

  /// Calls `body` for each chunk from `offset` on, in file order, and returns its first result that
  /// is not nil. Returns nil if there is no such chunk.
  func first<Answer>(
    from offset: Int, _ body: (Chunk) throws(FileFailure) -> Answer?
  ) throws(FileFailure) -> Answer? {
    var offset = offset
    for _ in 0..<Self.maximumChunkCount {
      guard let chunk = try chunk(at: offset) else { return nil }
      if let answer = try body(chunk) { return answer }
      guard let next = next(after: chunk) else { return nil }
      offset = next
    }
    return nil
  }

  /// Returns the first chunk of each name from `position` on, until all of `names` are found.
  func chunks(
    from position: Int, upTo names: Set<String>
  ) throws(FileFailure) -> [String: Chunk] {
    var found: [String: Chunk] = [:]
    _ = try first(from: position) { chunk in
      if found[chunk.identifier] == nil { found[chunk.identifier] = chunk }
      return names.isSubset(of: found.keys) ? chunk : nil
    }
    return found
  }

  /// Parses the bytes at `offset` as a chunk header. Returns nil if they have no valid identifier.
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

  /// Returns the offset of the end of the contents of `chunk`; nil if that is beyond the end of the
  /// file.
  func end(of chunk: Chunk) -> Int? {
    guard chunk.size >= 0, chunk.size <= byteCount - chunk.body else { return nil }
    return chunk.body + chunk.size
  }

  /// Returns the offset of the chunk after `chunk`; nil if `chunk` is truncated.
  func next(after chunk: Chunk) -> Int? {
    end(of: chunk).map { chunk.body + style.aligned($0 - chunk.body) }
  }

  /// Returns whether the last 12 bytes of a Wave64 GUID have one of their two fixed values. The
  /// chunk is identified by the first four bytes only. Always true for other formats.
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

/// The chunk layout of a family of audio file formats.
struct ChunkStyle: Sendable {
  let isBigEndian: Bool
  /// The size of an identifier in bytes: 4 for four letters, 16 for a GUID that begins with them.
  let identifierByteCount: Int
  let sizeByteCount: Int
  /// The alignment in bytes: every chunk begins at a multiple of this.
  let alignment: Int
  /// Whether the size field includes the identifier and the size field.
  let countsHead: Bool
  /// The identifiers of chunks that may follow the samples.
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
  /// The style of `wave` in big-endian order.
  static let rifx = ChunkStyle(
    isBigEndian: true, identifierByteCount: 4, sizeByteCount: 4, alignment: 2, countsHead: false,
    knownIdentifiers: wave.knownIdentifiers)
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

  /// Returns the bytes of a size field with the value `size`.
  func field(_ size: Int) -> [UInt8] { [UInt8](size, sizeByteCount, bigEndian: isBigEndian) }

  /// Returns `offset` rounded up to the next offset at which a chunk may begin.
  func aligned(_ offset: Int) -> Int { (offset + alignment - 1) / alignment * alignment }
}
