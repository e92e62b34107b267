/// The chunk `bext` of a broadcast WAV file (EBU Tech 3285, version 2), which contains its
/// originator, the time at which its first frame was captured, and its loudness.
enum BroadcastChunk {
  /// The size in bytes without a coding history.
  static let byteCount = 602

  /// Returns the contents of the chunk.
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
  /// Returns the contents of the chunk. The tags fit into WAV, and leave room for markers in the
  /// header.
  static func bytes(_ tags: SoundFileTags) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.append("INFO")
    for (field, text) in tags.nonempty { bytes.append(chunk: field.chunk, Array(text.utf8) + [0]) }
    bytes.append(chunk: "ISFT", Array("duplex\0".utf8))
    return bytes
  }
}

/// The markers of a WAV file: the chunk `cue `, which contains their frames, and a chunk `LIST` of
/// the kind `adtl`, which contains their labels.
struct MarkerChunks {
  let bytes: [UInt8]
  /// Whether some markers do not fit.
  let isCut: Bool

  /// Returns the number of bytes that `marker` takes in both chunks.
  static func byteCount(of marker: SoundFileMarker) -> Int {
    let label = labelContents(1, marker)
    return pointByteCount + 8 + label.count + label.count % 2
  }

  /// The number of bytes of a point in the chunk `cue `.
  private static let pointByteCount = 24

  /// Returns the contents of the chunk that labels the point `identifier`.
  private static func labelContents(_ identifier: UInt32, _ marker: SoundFileMarker) -> [UInt8] {
    var contents: [UInt8] = []
    contents.append(identifier)
    return contents + marker.label.bytes(atMost: 1000) + [0]
  }

  /// Packs as many markers as fit into `room` bytes, the earliest first. Markers at frames beyond
  /// 32 bits cannot be stored and are left out.
  init(_ markers: [SoundFileMarker], room: Int) {
    let representable = markers.filter { $0.frame >= 0 && $0.frame <= Int(UInt32.max) }
      .sorted { $0.frame < $1.frame }
    var points: [UInt8] = []
    var labels: [UInt8] = []
    labels.append("adtl")
    var count: UInt32 = 0
    for marker in representable {
      let identifier = count + 1
      let label = Self.labelContents(identifier, marker)
      let labelByteCount = 8 + label.count + label.count % 2
      // The last 20 bytes are for the headers of both chunks and the number of points.
      guard points.count + Self.pointByteCount + labels.count + labelByteCount + 20 <= room else {
        break
      }
      points.append(identifier)
      points.append(UInt32(marker.frame))
      points.append("data")
      points.append(UInt64(0))
      points.append(UInt32(marker.frame))
      labels.append(chunk: "labl", label)
      count += 1
    }
    isCut = Int(count) < representable.count
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

/// Chunks of RIFF files: an identifier of four letters, a length, and the contents, the least
/// significant byte first. A pad byte, which the length does not count, follows contents of odd
/// length.
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

  /// Appends `text` at the beginning of a field of `byteCount` bytes; zeros fill the rest.
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

  /// Appends a chunk without meaning that fills `byteCount` bytes, at least eight, with its header.
  mutating func append(junk byteCount: Int) {
    append(chunk: "JUNK", [UInt8](repeating: 0, count: byteCount - 8))
  }
}

extension String {
  /// Returns at most `byteCount` bytes of the text, without a partial character and without zero
  /// bytes, since a zero ends a text.
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
