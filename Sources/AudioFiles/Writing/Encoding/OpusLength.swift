import Glibc

/// The number of frames in an Ogg Opus file that is being written, read from its pages: libsndfile
/// does not say how many of the frames that it took still wait for theirs.
enum OpusLength {
  /// The most bytes that a page has (RFC 3533, 6).
  private static let longestPage = 27 + 255 + 255 * 255

  /// Frames at `sampleRate` up to the end of the last page; 0 where there is no sound yet.
  static func frameCount(in descriptor: Int32, sampleRate: Int) -> Int {
    let head = bytes(of: descriptor, at: 0, count: 47)
    // The first packet has a page of its own, and a length that is known.
    guard head.count == 47, head[28...].starts(with: Array("OpusHead".utf8)),
      let skipped = head.integer(at: 38, 2, bigEndian: false)
    else { return 0 }
    let start = max(0, lseek(descriptor, 0, SEEK_CUR) - longestPage)
    let end = bytes(of: descriptor, at: start, count: longestPage)
    let pages = stride(from: end.count - 27, through: 0, by: -1).lazy.filter { place in
      end[place...].starts(with: Array("OggS".utf8))
    }
    for page in pages {
      // A page on which no packet ends tells -1.
      guard let place = end.number(at: page + 6, 8, bigEndian: false), place < 1 << 48 else {
        continue
      }
      // Opus counts at 48 kHz, whatever is recorded (RFC 7845, 4).
      let frames = max(0, Int(place) - skipped)
      return frames / 48000 * sampleRate + frames % 48000 * sampleRate / 48000
    }
    return 0
  }

  private static func bytes(of descriptor: Int32, at place: Int, count: Int) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    let found = pread(descriptor, &bytes, count, place)
    return Array(bytes.prefix(max(0, found)))
  }
}
