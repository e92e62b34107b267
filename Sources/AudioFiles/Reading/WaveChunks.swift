/// An iterator over the chunks of a file of the WAV family (EBU Tech 3306). Chunk lengths are taken
/// from the chunk headers without checks.
struct WaveChunks {
  /// The maximum number of entries of a `LIST` chunk that are read.
  static let maximumEntries = 65536

  private let bytes: BufferedBytes
  private let byteCount: Int
  let isBigEndian: Bool
  private var offset = 12
  private var longDataByteCount: UInt64?
  private let riffByteCount: Int

  /// Creates an iterator over the chunks in `bytes`. Returns nil if these are not such
  /// a file, or if their length is unknown.
  init?(_ bytes: BufferedBytes) throws(FileFailure) {
    let head = try bytes.bytes(at: 0, count: 12)
    guard let byteCount = bytes.byteCount, let container = SoundContainer(head: head),
      container.isWave
    else { return nil }
    self.bytes = bytes
    self.byteCount = byteCount
    let isBigEndian = container == .rifx
    self.isBigEndian = isBigEndian
    riffByteCount = head.integer(at: 4, 4, bigEndian: isBigEndian) ?? 0
  }

  /// Returns the next chunk; nil at the end of the file.
  mutating func next() throws(FileFailure) -> Chunk? {
    guard offset < byteCount else { return nil }
    let head = try bytes.bytes(at: offset, count: 8)
    guard let size = head.integer(at: 4, 4, bigEndian: isBigEndian) else { return nil }
    let body = offset + 8
    let name = head.identifier(at: 0) ?? ""
    if name == "ds64" {
      longDataByteCount = try bytes.bytes(at: body, count: 16).number(
        at: 8, 8, bigEndian: isBigEndian)
    }
    let announced = AnnouncedLength(riffByteCount: riffByteCount, long: longDataByteCount)
    let length = name == "data" ? announced.data(size, from: body) ?? size : size
    defer { offset = body + length + (length & 1) }
    return Chunk(identifier: name, start: offset, body: body, size: length)
  }

  /// Calls `body` with each entry of a list, until it returns false: chunks, of which the first
  /// begins at the start of `entries`.
  static func visit(
    _ entries: Range<Int>, of bytes: BufferedBytes, isBigEndian: Bool,
    _ body: (Chunk) throws(FileFailure) -> Bool
  ) throws(FileFailure) {
    var offset = entries.lowerBound
    for _ in 0..<maximumEntries {
      guard offset < entries.upperBound else { return }
      let head = try bytes.bytes(at: offset, count: 8)
      guard let size = head.integer(at: 4, 4, bigEndian: isBigEndian) else { return }
      let entry = Chunk(
        identifier: head.identifier(at: 0) ?? "", start: offset, body: offset + 8, size: size)
      guard try body(entry) else { return }
      offset = entry.body + size + (size & 1)
    }
  }

  /// Returns the range of the contents of `chunk`, limited to the bytes that exist.
  func contents(of chunk: Chunk) -> Range<Int> {
    chunk.body..<max(chunk.body, min(byteCount, chunk.body + chunk.size))
  }
}
