/// Tells files of MPEG audio (MP3 and its kin) from others before libsndfile sees them: its decoder of
/// them prints what it thinks of damage, and `MPEGDecoder` reads them anyhow.
enum MPEGBeginning {
  /// ID3 tags that are passed, one behind the other.
  private static let mostTags = 1000

  /// Whether libsndfile would take bytes for MPEG audio: those behind their ID3 tags begin with eleven
  /// ones. `read` gives the bytes at a place, at most a number of them.
  static func isThere<Failure: Error>(
    _ read: (_ place: Int, _ count: Int) throws(Failure) -> [UInt8]
  ) throws(Failure) -> Bool {
    var place = 0
    for _ in 0..<mostTags {
      let head = try read(place, 10)
      guard head.count >= 2 else { return false }
      guard head.count == 10, head.starts(with: "ID3".utf8) else {
        return head[0] == 0xFF && head[1] & 0xE0 == 0xE0
      }
      // Four bytes of seven bits each, highest first.
      place += 10 + head[6...].reduce(0) { $0 << 7 | Int($1 & 0x7F) }
    }
    return true
  }
}

extension FileFailure {
  /// MPEG audio for what reads other files.
  static func mpeg(_ name: String) -> FileFailure {
    FileFailure(
      .unknownContents,
      "\(name) begins like MPEG audio (MP3), but is damaged, cut short or not fit for this.",
      hint: "Convert it to WAV with ffmpeg.")
  }
}
