/// One stream of an Ogg file: Vorbis or Opus from its first page to its last.
struct OggStream {
  let fileFormat: FileFormat
  let sampleRate: Int
  /// Frames at the beginning that are not heard.
  private let skipped: Int
  /// The last page on which a packet ends.
  private(set) var lastPage: OggPage
  private var sequence: UInt32
  private(set) var lostPages = 0

  /// The stream that begins with `page`; nil where it is neither Vorbis nor Opus.
  init?(_ file: DamagedFile, beginningWith page: OggPage) throws(FileFailure) {
    let packet = try file.bytes(at: page.body, count: 30)
    if packet.starts(with: [1] + Array("vorbis".utf8)),
      let rate = packet.integer(at: 12, 4, bigEndian: false), rate > 0
    {
      fileFormat = .ogg
      sampleRate = rate
      skipped = 0
    } else if packet.starts(with: Array("OpusHead".utf8)),
      let skip = packet.integer(at: 10, 2, bigEndian: false)
    {
      // Whatever was recorded, Opus counts at 48 kHz (RFC 7845, 4).
      fileFormat = .opus
      sampleRate = 48000
      skipped = skip
    } else {
      return nil
    }
    lastPage = page
    sequence = page.sequence
  }

  /// Frames up to the end of the last page.
  var frames: Int {
    let place = min(max(0, lastPage.granule ?? 0), FileBounds.frameCount)
    return max(0, place - skipped)
  }

  mutating func add(_ page: OggPage) {
    let step = Int(page.sequence) - Int(sequence)
    if step > 1, step < 1_000_000 { lostPages += step - 1 }
    sequence = page.sequence
    if page.granule != nil { lastPage = page }
  }
}
