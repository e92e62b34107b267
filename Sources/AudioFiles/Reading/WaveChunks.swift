/// The chunks of a WAV or RF64 file (EBU Tech 3306), one after the other. Their lengths are what their heads say.
struct WaveChunks {
  /// What such a file begins with.
  static let forms = ["RIFF", "RIFX", "RF64"]

  private let bytes: BufferedBytes
  private let byteCount: Int
  let isBigEndian: Bool
  private var place = 12
  private var longDataByteCount: UInt64?

  /// Those in `bytes`; nil where these are no such file, or where their end is not known.
  init?(_ bytes: BufferedBytes) throws(FileFailure) {
    let head = try bytes.bytes(at: 0, count: 12)
    guard let byteCount = bytes.byteCount, let form = head.identifier(at: 0),
      Self.forms.contains(form), head.identifier(at: 8) == "WAVE"
    else { return nil }
    self.bytes = bytes
    self.byteCount = byteCount
    isBigEndian = form == "RIFX"
  }

  /// nil at the end of the file.
  mutating func next() throws(FileFailure) -> Chunk? {
    guard place < byteCount else { return nil }
    let head = try bytes.bytes(at: place, count: 8)
    guard let size = head.integer(at: 4, 4, bigEndian: isBigEndian) else { return nil }
    let body = place + 8
    let name = head.identifier(at: 0) ?? ""
    if name == "ds64" {
      longDataByteCount = try bytes.bytes(at: body, count: 16).number(
        at: 8, 8, bigEndian: isBigEndian)
    }
    let length = name == "data" ? AnnouncedLength.data(size, long: longDataByteCount) ?? size : size
    defer { place = body + length + (length & 1) }
    return Chunk(identifier: name, start: place, body: body, size: length)
  }

  /// Where the contents of `chunk` lie, as far as they are there.
  func contents(of chunk: Chunk) -> Range<Int> {
    chunk.body..<max(chunk.body, min(byteCount, chunk.body + chunk.size))
  }
}

extension SoundFileMarker {
  /// The markers of an RF64 file, of which libsndfile reads none: a chunk `cue ` says where they stand, and a chunk `LIST`
  /// of the kind `adtl` what they are called.
  static func all(inLongWave bytes: BufferedBytes) throws(FileFailure) -> [SoundFileMarker] {
    guard var chunks = try WaveChunks(bytes) else { return [] }
    var points: [(identifier: Int, frame: Int)] = []
    var labels: [Int: String] = [:]
    for _ in 0..<ChunkWalk.most {
      guard let chunk = try chunks.next() else { break }
      let contents = chunks.contents(of: chunk)
      switch chunk.identifier {
      case "cue " where points.count < most: points += try Self.points(in: contents, of: bytes)
      case "LIST": try Self.readLabels(in: contents, of: bytes, into: &labels)
      default: break
      }
    }
    return points.prefix(most).map {
      SoundFileMarker(frame: $0.frame, label: labels[$0.identifier] ?? "")
    }
  }

  private static func points(
    in range: Range<Int>, of bytes: BufferedBytes
  ) throws(FileFailure) -> [(identifier: Int, frame: Int)] {
    var points: [(identifier: Int, frame: Int)] = []
    // Behind their number.
    for place in stride(from: range.lowerBound + 4, to: range.upperBound, by: 24).prefix(most) {
      let point = try bytes.bytes(at: place, count: 24)
      guard let identifier = point.integer(at: 0, 4, bigEndian: false),
        let frame = point.integer(at: 20, 4, bigEndian: false)
      else {
        break
      }
      points.append((identifier, frame))
    }
    return points
  }

  private static func readLabels(
    in range: Range<Int>, of bytes: BufferedBytes, into labels: inout [Int: String]
  ) throws(FileFailure) {
    guard try bytes.bytes(at: range.lowerBound, count: 4).identifier(at: 0) == "adtl" else {
      return
    }
    var place = range.lowerBound + 4
    for _ in 0..<mostEntries {
      guard place < range.upperBound, labels.count < most else { return }
      let head = try bytes.bytes(at: place, count: 12)
      guard let size = head.integer(at: 4, 4, bigEndian: false), size >= 4 else { return }
      if head.identifier(at: 0) == "labl", let identifier = head.integer(at: 8, 4, bigEndian: false)
      {
        let text = try bytes.bytes(at: place + 12, count: min(size - 4, longestLabel))
        labels[identifier] = String(fromNetwork: text.prefix { $0 != 0 })
      }
      place += 8 + size + (size & 1)
    }
  }

  /// Entries of a list that are looked at, labels and others.
  private static let mostEntries = 65536
  /// Bytes of a label that are read, at most.
  private static let longestLabel = 1000
}
