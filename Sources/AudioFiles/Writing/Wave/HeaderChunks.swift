/// Chunk `bext` of a broadcast WAV file (EBU Tech 3285, version 2), which names its originator,
/// when its first frame was captured, and how loud it is.
enum BroadcastChunk {
  /// Without a coding history.
  static let byteCount = 602

  /// What is in the chunk.
  static func bytes(_ notes: RecordingNotes) -> [UInt8] {
    let origination = notes.origination
    let loudness = notes.loudness
    var bytes: [UInt8] = []
    bytes.append(notes.tags.title ?? "", field: 256)
    bytes.append("duplex", field: 32)
    bytes.append("", field: 32)
    bytes.append(origination?.date ?? "", field: 10)
    bytes.append(origination?.time ?? "", field: 8)
    bytes.append(UInt64(origination?.timeReference ?? 0))
    bytes.append(UInt16(2))
    // No unique identifier.
    bytes.append(zeros: 64)
    bytes.append(loudness.integrated)
    bytes.append(loudness.range)
    bytes.append(loudness.truePeak)
    bytes.append(loudness.momentary)
    bytes.append(loudness.shortTerm)
    bytes.append(zeros: 180)
    return bytes
  }
}

/// The tags of a WAV file: a chunk `LIST` of the kind `INFO`.
enum InformationChunk {
  /// What is in the chunk. The tags fit into WAV, and leave room for markers in the header.
  static func bytes(_ tags: SoundFileTags) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.append("INFO")
    for (field, text) in tags.said { bytes.append(chunk: field.chunk, Array(text.utf8) + [0]) }
    bytes.append(chunk: "ISFT", Array("duplex\0".utf8))
    return bytes
  }
}

/// The markers of a WAV file: the chunk `cue `, which says where they stand, and a chunk `LIST` of
/// the kind `adtl`, which says what they are called.
struct MarkerChunks {
  let bytes: [UInt8]
  /// Whether there was no room for all.
  let isCut: Bool

  /// As many markers as fit into `room` bytes, the earliest first. Frames beyond 32 bits cannot be
  /// told, and are left out.
  init(_ markers: [SoundFileMarker], room: Int) {
    let told = markers.filter { $0.frame >= 0 && $0.frame <= Int(UInt32.max) }
      .sorted { $0.frame < $1.frame }
    var points: [UInt8] = []
    var labels: [UInt8] = []
    labels.append("adtl")
    var count: UInt32 = 0
    for marker in told {
      let identifier = count + 1
      var label: [UInt8] = []
      label.append(identifier)
      label += marker.label.bytes(atMost: 1000) + [0]
      let labelByteCount = 8 + label.count + label.count % 2
      // Beside the heads of both chunks, and the number of points.
      guard points.count + 24 + labels.count + labelByteCount + 20 <= room else { break }
      points.append(identifier)
      points.append(UInt32(marker.frame))
      points.append("data")
      points.append(UInt64(0))
      points.append(UInt32(marker.frame))
      labels.append(chunk: "labl", label)
      count += 1
    }
    isCut = Int(count) < told.count
    var bytes: [UInt8] = []
    if count > 0 {
      var cue: [UInt8] = []
      cue.append(count)
      bytes.append(chunk: "cue ", cue + points)
      bytes.append(chunk: "LIST", labels)
    }
    self.bytes = bytes
  }
}

/// Chunks as RIFF files have them: a name of four letters, a length, and what is in it, the least
/// significant byte first. After an odd length a byte follows that does not count.
extension [UInt8] {
  mutating func append(_ identifier: String) { self += identifier.utf8 }

  mutating func append<Number: FixedWidthInteger>(_ number: Number) {
    Swift.withUnsafeBytes(of: number.littleEndian) { append(contentsOf: $0) }
  }

  mutating func replace<Number: FixedWidthInteger>(at first: Int, with number: Number) {
    Swift.withUnsafeBytes(of: number.littleEndian) {
      replaceSubrange(first..<first + $0.count, with: $0)
    }
  }

  /// `text` at the beginning of a field of `byteCount` bytes.
  mutating func append(_ text: String, field byteCount: Int) {
    let bytes = text.bytes(atMost: byteCount)
    self += bytes
    append(zeros: byteCount - bytes.count)
  }

  mutating func append(zeros count: Int) {
    self += [UInt8](repeating: 0, count: count)
  }

  mutating func append(chunk identifier: String, _ contents: [UInt8]) {
    append(identifier)
    append(UInt32(contents.count))
    self += contents
    if contents.count % 2 == 1 { append(UInt8(0)) }
  }

  /// A chunk that means nothing, and fills `byteCount` bytes, at least eight, with its head.
  mutating func append(junk byteCount: Int) {
    append(chunk: "JUNK", [UInt8](repeating: 0, count: byteCount - 8))
  }
}

extension String {
  /// At most `byteCount` bytes of it, never half of a letter; none is zero, which ends a text.
  func bytes(atMost byteCount: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    for letter in unicodeScalars where letter != "\0" {
      let more = Array(UTF8.encode(letter) ?? UTF8.encodedReplacementCharacter)
      guard bytes.count + more.count <= byteCount else { break }
      bytes += more
    }
    return bytes
  }
}
