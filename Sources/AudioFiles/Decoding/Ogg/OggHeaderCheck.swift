import CVorbisFile

/// A check of the headers of each stream in an Ogg file before the libraries read them. libvorbis
/// allocates tables with as many entries as a code book announces (Vorbis I specification, 4.2.4):
/// 4 kB can announce 256 books of 2^23 entries, which need gigabytes. In seekable files, the
/// libraries also keep the headers of all chained streams.
///
/// Pages are found by libogg, and packets by its rules, so the check sees the same data.
final class OggHeaderCheck {
  /// The reason why headers are withheld from the libraries.
  enum Refusal {
    /// The code books are larger than those of any encoder.
    case books
    /// The comments are longer than those of any real file.
    case comments
    /// Too many streams begin without completing their headers.
    case streams
    /// The headers of chained streams are too large to be kept together.
    case chain
    /// Pages with wrong checksums begin within one another again and again.
    case nestedPages
    /// There is not enough memory for the check.
    case memory
  }

  /// The maximum number of values in all code books of a stream. The encoder of libvorbis writes up
  /// to 90,000, and each needs up to 40 bytes.
  private static let maximumValues = 1 << 19
  /// The maximum number of bytes that the libraries keep of the headers of all streams of a file.
  private static let maximumKept = 1 << 24
  /// The number of bytes that libopusfile keeps of a stream in addition to its comments.
  private static let keptOfOpus = 1024
  /// The maximum number of streams that have begun and whose headers are incomplete.
  static let maximumStreams = 64
  /// The maximum size of a setup header in bytes.
  private static let maximumSetupByteCount = 1 << 20
  /// The maximum size in bytes of all comments of a stream, including embedded pictures. libogg and
  /// the library use up to three times as much memory.
  static let maximumCommentByteCount = 12 << 20

  /// The maximum number of bytes before the end of the setup header.
  private static let farthest = 1 << 25

  /// The maximum number of bytes in pages with wrong checksums: eight times as many as there are
  /// bytes, and 1 MiB. In a damaged file each byte belongs to one such page, or to a few. If every
  /// sixth byte begins one, libogg computes the checksums of 6000 bytes for each of them.
  private static func maximumRejected(_ byteCount: Int) -> Int { 8 * byteCount + 1 << 20 }

  private var sync = ogg_sync_state()
  private var streams: [Int32: HeaderPackets] = [:]
  private var keptByteCount = 0
  /// The number of bytes so far, and the number of bytes in pages with wrong checksums.
  private var byteCount = 0
  private var rejectedByteCount = 0
  /// Whether the libraries keep the headers of all streams found.
  var keepsAll = false
  /// The codec of the first complete page that begins a stream; nil before it was found.
  private(set) var beginning: OggContents?
  private(set) var isSetUp = false
  /// Whether a page was marked as the last one of its stream.
  private(set) var holdsEnd = false
  private(set) var refusal: Refusal?

  init() {
    ogg_sync_init(&sync)
  }

  deinit {
    ogg_sync_clear(&sync)
  }

  /// Whether the last bytes read are the beginning of an incomplete page.
  var holdsTornPage: Bool {
    let rest = unsearched
    return !rest.isEmpty && "OggS".utf8.prefix(rest.count).elementsEqual(rest.prefix(4))
  }

  /// Resets the state before a seek: the next bytes do not follow the last ones.
  func jump() {
    ogg_sync_reset(&sync)
    streams = [:]
  }

  /// Checks the next bytes for a library. Returns false if the library must not read them;
  /// `refusal` is then the reason.
  func accepts(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard refusal == nil else { return false }
    guard let room = ogg_sync_buffer(&sync, bytes.count) else {
      refusal = .memory
      return false
    }
    UnsafeMutableRawPointer(room).copyMemory(
      from: bytes.baseAddress ?? .init(room), byteCount: bytes.count)
    ogg_sync_wrote(&sync, bytes.count)
    byteCount += bytes.count
    var page = ogg_page()
    while true {
      let candidate = nextPageByteCount
      let found = ogg_sync_pageseek(&sync, &page)
      if found == 0 { return true }
      if found > 0 {
        refusal = inspect(at: &page)
      } else {
        rejectedByteCount += candidate
        if rejectedByteCount > Self.maximumRejected(byteCount) { refusal = .nestedPages }
      }
      guard refusal == nil else { return false }
    }
  }

  /// The bytes that libogg holds and has not searched for pages.
  private var unsearched: UnsafeRawBufferPointer {
    let count = Int(sync.fill - sync.returned)
    guard let data = sync.data, count > 0 else {
      return UnsafeRawBufferPointer(start: nil, count: 0)
    }
    return UnsafeRawBufferPointer(start: data + Int(sync.returned), count: count)
  }

  /// The number of bytes of the page with which the unsearched bytes begin; 0 if they begin with
  /// none, or do not hold its header.
  private var nextPageByteCount: Int {
    let bytes = unsearched
    guard bytes.count >= 27, bytes.starts(with: "OggS".utf8) else { return 0 }
    let header = 27 + Int(bytes[26])
    guard bytes.count >= header else { return 0 }
    return bytes[27..<header].reduce(header) { $0 + Int($1) }
  }

  /// Throws `.unusableContents` if the first complete page of an Ogg file begins a Vorbis stream
  /// whose headers libvorbis must not read. Accepts all other files.
  static func check(beginningOf bytes: BufferedBytes) throws(FileFailure) {
    guard bytes.isSeekable, try bytes.peek(4).holds("OggS", at: 0) else { return }
    let start = bytes.position
    defer { bytes.position = start }
    let check = OggHeaderCheck()
    while !check.isSetUp, bytes.position < start + farthest {
      guard check.beginning != .other else { return }
      let piece = try bytes.peek(16384)
      guard piece.count > 0 else { return }
      guard check.accepts(piece) else { throw .oggHeaders(bytes.name, check.refusal) }
      bytes.position += piece.count
    }
  }

  private func inspect(at page: inout ogg_page) -> Refusal? {
    holdsEnd = holdsEnd || ogg_page_eos(&page) != 0
    let body = UnsafeRawBufferPointer(start: page.body, count: page.body_len)
    let serial = ogg_page_serialno(&page)
    if ogg_page_bos(&page) != 0 {
      let contents = OggContents(packet: body)
      if beginning == nil { beginning = contents }
      if contents != .other { streams[serial] = HeaderPackets(contents) }
    }
    guard streams.count <= Self.maximumStreams else { return .streams }
    guard let stream = streams[serial] else { return nil }
    stream.add(&page, body, maximumByteCount: Self.maximumCommentByteCount)
    guard stream.byteCount <= Self.maximumCommentByteCount else { return .comments }
    guard stream.last.count <= Self.maximumSetupByteCount else { return .books }
    guard stream.isComplete else { return nil }
    streams[serial] = nil
    if stream.contents == beginning { isSetUp = true }
    var kept = stream.commentByteCount
    if stream.contents == .opus {
      kept += Self.keptOfOpus
    } else {
      let cost = VorbisSetupCost(stream.last, maximumValues: Self.maximumValues)
      guard cost.valueCount <= Self.maximumValues else { return .books }
      kept += cost.keptByteCount
    }
    if keepsAll { keptByteCount += kept }
    return keptByteCount <= Self.maximumKept ? nil : .chain
  }
}

/// The packets of one stream up to its last header, which is the only one kept (RFC 3533, 6;
/// assembled as in libogg).
private final class HeaderPackets {
  let contents: OggContents
  /// The first bytes of the current packet, or all bytes of a setup header.
  private var packet: [UInt8] = []
  /// The size of the current packet in bytes.
  private(set) var byteCount = 0
  private var isPartial = false
  private var sequence = -1
  private(set) var commentByteCount = 0
  /// Whether the last header is complete.
  private(set) var isComplete = false

  /// The bytes of the setup header of Vorbis received so far; empty for other headers.
  var last: [UInt8] { Self.isSetup(packet) ? packet : [] }

  init(_ contents: OggContents) {
    self.contents = contents
  }

  /// Adds the packets of `page`, up to the last header, or until a packet has more than
  /// `maximumByteCount` bytes.
  func add(_ page: inout ogg_page, _ body: UnsafeRawBufferPointer, maximumByteCount: Int) {
    let number = Int(ogg_page_pageno(&page))
    if number != sequence { isPartial = false }
    sequence = number + 1
    // Skip the rest of a packet whose beginning is missing.
    var isSkipped = ogg_page_continued(&page) != 0 && !isPartial
    if !isPartial { begin() }
    var offset = 0
    for index in 0..<Int(page.header[26]) where !isComplete && byteCount <= maximumByteCount {
      let count = Int(page.header[27 + index])
      if !isSkipped { keep(body[min(offset, body.count)..<min(offset + count, body.count)]) }
      offset += count
      isPartial = count == 255 && !isSkipped
      if count < 255 {
        end()
        isSkipped = false
      }
    }
  }

  private func begin() {
    packet = []
    byteCount = 0
  }

  private func end() {
    if packet.starts(with: [3] + "vorbis".utf8) || packet.starts(with: "OpusTag".utf8) {
      commentByteCount += byteCount
      isComplete = packet[0] != 3
    }
    isComplete = isComplete || Self.isSetup(packet)
    if !isComplete { begin() }
  }

  /// Keeps only the first bytes of other packets than setup headers, which identify them.
  private func keep(_ bytes: Slice<UnsafeRawBufferPointer>) {
    byteCount += bytes.count
    let rest = 7 - packet.count
    packet += rest > 0 || Self.isSetup(packet) ? bytes : bytes.prefix(0)
    if packet.count > 7, !Self.isSetup(packet) { packet.removeLast(packet.count - 7) }
  }

  private static func isSetup(_ packet: [UInt8]) -> Bool {
    packet.starts(with: [5] + "vorbis".utf8)
  }
}
