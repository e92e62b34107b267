/// What a Wave64, AIFF or AU file says of its length, which libsndfile brings to what is there without a
/// word. (WAV and RF64: `WaveStream`; CAF: `CutCAF`.)
enum AnnouncedSound {
  private static let mostChunks = 4096

  /// Bytes of sound that the head announces, where they reach beyond the file's end; nil where they do
  /// not, or the head does not say. `read` gives the bytes at a place, at most a number of them.
  static func byteCount<Failure: Error>(
    beyond fileByteCount: Int,
    _ read: (_ place: Int, _ count: Int) throws(Failure) -> [UInt8]
  ) throws(Failure) -> Int? {
    let head = try read(0, 40)
    guard let kind = Kind(head) else { return bytesOfAU(head, beyond: fileByteCount) }
    var place = kind.headByteCount
    for _ in 0..<mostChunks {
      let chunk = try read(place, kind.chunkHeadByteCount)
      guard chunk.count == kind.chunkHeadByteCount, let size = kind.size(chunk) else { return nil }
      let body = place + kind.chunkHeadByteCount
      guard chunk.starts(with: kind.soundName.utf8) else {
        let (next, isTooFar) = body.addingReportingOverflow(kind.padded(size))
        guard !isTooFar, next < fileByteCount else { return nil }
        place = next
        continue
      }
      // What recorders write that do not know the length yet.
      guard size < kind.unknownSize, size > fileByteCount - body else { return nil }
      return size - kind.soundHeadByteCount
    }
    return nil
  }

  /// An AU file has a head, and nothing else than sound behind it.
  private static func bytesOfAU(_ head: [UInt8], beyond fileByteCount: Int) -> Int? {
    let isBig = head.starts(with: ".snd".utf8)
    guard isBig || head.starts(with: "dns.".utf8),
      let start = head.integer(at: 4, 4, bigEndian: isBig),
      let size = head.integer(at: 8, 4, bigEndian: isBig)
    else { return nil }
    // What recorders write that do not know the length.
    return size < 0x7FFF_F000 && size > fileByteCount - start ? size : nil
  }

  private enum Kind {
    case wave64
    case aiff

    init?(_ head: [UInt8]) {
      if head.starts(with: "riff".utf8), head.dropFirst(24).starts(with: "wave".utf8) {
        self = .wave64
      } else if head.starts(with: "FORM".utf8), head.dropFirst(8).starts(with: "AIF".utf8) {
        self = .aiff
      } else {
        return nil
      }
    }

    var headByteCount: Int {
      switch self {
      case .wave64: 40
      case .aiff: 12
      }
    }

    /// A name, in Wave64 of 16 bytes, and a size.
    var chunkHeadByteCount: Int {
      switch self {
      case .wave64: 24
      case .aiff: 8
      }
    }

    var soundName: String { self == .aiff ? "SSND" : "data" }

    /// Bytes of the sound's chunk that are no sound: offset and block size.
    var soundHeadByteCount: Int {
      switch self {
      case .wave64: 0
      case .aiff: 8
      }
    }

    var unknownSize: Int { self == .aiff ? 0x7FFF_F000 : FileBounds.byteCount }

    /// Bytes of a chunk behind its head; nil where no file can have them.
    func size(_ chunk: [UInt8]) -> Int? {
      switch self {
      case .wave64:
        chunk.number(at: 16, 8, bigEndian: false).flatMap { Int(exactly: $0) }
          .flatMap { $0 < 24 ? nil : $0 - 24 }
      case .aiff: chunk.integer(at: 4, 4, bigEndian: true)
      }
    }

    /// Chunks begin at multiples of 8 bytes in Wave64, of 2 in AIFF.
    func padded(_ size: Int) -> Int {
      let step = self == .wave64 ? 7 : 1
      return (min(size, FileBounds.byteCount) + step) & ~step
    }
  }
}
