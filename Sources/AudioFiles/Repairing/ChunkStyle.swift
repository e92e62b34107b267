/// How a family of sound files lays out its chunks.
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

  /// `place`, or the next one where a chunk may begin.
  func aligned(_ place: Int) -> Int { (place + alignment - 1) / alignment * alignment }
}
