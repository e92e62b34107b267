/// The chunks of a WAV or RF64 file (EBU Tech 3306), one after the other. Their lengths are what
/// their heads say.
struct WaveChunks {
  /// What such a file begins with.
  static let forms = ["RIFF", "RIFX", "RF64"]
  /// Entries of a list (`LIST`) that are looked at.
  static let mostEntries = 65536

  private let bytes: BufferedBytes
  private let byteCount: Int
  let isBigEndian: Bool
  private var offset = 12
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
    guard offset < byteCount else { return nil }
    let head = try bytes.bytes(at: offset, count: 8)
    guard let size = head.integer(at: 4, 4, bigEndian: isBigEndian) else { return nil }
    let body = offset + 8
    let name = head.identifier(at: 0) ?? ""
    if name == "ds64" {
      longDataByteCount = try bytes.bytes(at: body, count: 16).number(
        at: 8, 8, bigEndian: isBigEndian)
    }
    let length = name == "data" ? AnnouncedLength.data(size, long: longDataByteCount) ?? size : size
    defer { offset = body + length + (length & 1) }
    return Chunk(identifier: name, start: offset, body: body, size: length)
  }

  /// Where the contents of `chunk` lie, as far as they are there.
  func contents(of chunk: Chunk) -> Range<Int> {
    chunk.body..<max(chunk.body, min(byteCount, chunk.body + chunk.size))
  }
}
