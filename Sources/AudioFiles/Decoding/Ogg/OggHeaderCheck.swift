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

  private var sync = ogg_sync_state()
  private var streams: [Int32: HeaderPackets] = [:]
  private var keptByteCount = 0
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
    guard let data = sync.data, sync.fill > sync.returned else { return false }
    let rest = UnsafeRawBufferPointer(
      start: data + Int(sync.returned), count: Int(sync.fill - sync.returned))
    return "OggS".utf8.prefix(rest.count).elementsEqual(rest.prefix(4))
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
    var page = ogg_page()
    while true {
      let found = ogg_sync_pageout(&sync, &page)
      if found == 0 { return true }
      if found > 0 { refusal = inspect(at: &page) }
      guard refusal == nil else { return false }
    }
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

/// The memory that libvorbis allocates for a setup header (Vorbis I specification, 4.2.4). A
/// damaged header is counted up to the damage, where libvorbis stops reading as well.
private struct VorbisSetupCost {
  /// The number of values in the code books: the sum of entries times dimensions.
  private(set) var valueCount = 0
  /// The number of bytes kept for each known stream, whether it is played or not.
  private(set) var keptByteCount = 0
  private var bits: LowBits

  /// The sizes of the structures of libvorbis in bytes.
  private enum Size {
    static let book = 128
    static let floor = 1200
    static let residue = 2900
    static let mapping = 3300
  }

  init(_ header: [UInt8], maximumValues: Int) {
    bits = LowBits(header, from: 7)
    guard skipBooks(maximumValues), skipTimes(), skipFloors(), skipResidues() else { return }
    keptByteCount += Size.mapping * ((bits.take(6) ?? 0) + 1)
  }

  /// Skips the code books (section 3.2.1).
  private mutating func skipBooks(_ maximumValues: Int) -> Bool {
    guard let last = bits.take(8) else { return false }
    for _ in 0...last {
      guard bits.take(24) == 0x564342, let dimensions = bits.take(16),
        let entries = bits.take(24)
      else { return false }
      valueCount += entries * max(1, dimensions)
      keptByteCount += Size.book + entries
      guard valueCount <= maximumValues, skipLengths(entries), skipValues(entries, dimensions)
      else {
        return false
      }
    }
    return true
  }

  private mutating func skipTimes() -> Bool {
    bits.take(6).map { bits.skip(16 * ($0 + 1)) } ?? false
  }

  /// Skips the floors (sections 6.2.1 and 7.2.2).
  private mutating func skipFloors() -> Bool {
    guard let last = bits.take(6) else { return false }
    for _ in 0...last {
      keptByteCount += Size.floor
      let isSkipped =
        switch bits.take(16) {
        case 0: bits.skip(54) && bits.take(4).map { bits.skip(8 * ($0 + 1)) } ?? false
        case 1: skipFloor1()
        default: false
        }
      guard isSkipped else { return false }
    }
    return true
  }

  private mutating func skipFloor1() -> Bool {
    guard let partitions = bits.take(5) else { return false }
    var classes: [Int] = []
    for _ in 0..<partitions { classes.append(bits.take(4) ?? 0) }
    var dimensions: [Int] = []
    for _ in 0..<(classes.max() ?? -1) + 1 {
      guard let dimension = bits.take(3), let subclasses = bits.take(2),
        bits.skip((subclasses > 0 ? 8 : 0) + (8 << subclasses))
      else { return false }
      dimensions.append(dimension + 1)
    }
    guard bits.take(2) != nil, let width = bits.take(4) else { return false }
    return bits.skip(classes.reduce(0) { $0 + dimensions[$1] } * width)
  }

  /// Skips the residues (section 8.6.1).
  private mutating func skipResidues() -> Bool {
    guard let last = bits.take(6) else { return false }
    for _ in 0...last {
      keptByteCount += Size.residue
      guard bits.skip(16 + 3 * 24), let classes = bits.take(6), bits.skip(8) else { return false }
      var books = 0
      for _ in 0...classes {
        guard let low = bits.take(3), let hasMore = bits.take(1),
          let high = hasMore == 1 ? bits.take(5) : 0
        else { return false }
        books += low.nonzeroBitCount + high.nonzeroBitCount
      }
      guard bits.skip(8 * books) else { return false }
    }
    return true
  }

  private mutating func skipLengths(_ entries: Int) -> Bool {
    guard let isOrdered = bits.take(1) else { return false }
    if isOrdered == 1 {
      guard bits.take(5) != nil else { return false }
      var entry = 0
      while entry < entries {
        guard let count = bits.take(Self.bitCount(entries - entry)) else { return false }
        // A count of 0 makes no progress, but uses up bits of the header, so the loop ends.
        entry += count
      }
      return entry == entries
    }
    guard let isSparse = bits.take(1) else { return false }
    for _ in 0..<entries {
      guard let isUsed = isSparse == 1 ? bits.take(1) : 1 else { return false }
      if isUsed == 1, bits.take(5) == nil { return false }
    }
    return true
  }

  private mutating func skipValues(_ entries: Int, _ dimensions: Int) -> Bool {
    guard let type = bits.take(4) else { return false }
    if type == 0 { return true }
    guard type <= 2, bits.take(32) != nil, bits.take(32) != nil, let width = bits.take(4),
      bits.take(1) != nil
    else { return false }
    let count = type == 1 ? Self.root(entries, dimensions) : entries * dimensions
    keptByteCount += 8 * count
    return bits.skip(count * (width + 1))
  }

  /// Returns the function `ilog` of the specification.
  private static func bitCount(_ value: Int) -> Int { Int.bitWidth - value.leadingZeroBitCount }

  /// Returns the function `lookup1_values` of the specification: the greatest number whose power
  /// does not exceed `entries`.
  private static func root(_ entries: Int, _ dimensions: Int) -> Int {
    guard dimensions > 0 else { return 0 }
    var root = 0
    while power(root + 1, dimensions, isWithin: entries) { root += 1 }
    return root
  }

  private static func power(_ base: Int, _ exponent: Int, isWithin maximum: Int) -> Bool {
    guard base > 1 else { return base <= maximum }
    var power = 1
    for _ in 0..<exponent {
      power *= base
      if power > maximum { return false }
    }
    return true
  }
}

/// A reader of numbers whose lowest bit comes first (Vorbis I specification, 2).
private struct LowBits {
  private let bytes: [UInt8]
  private var offset: Int

  init(_ bytes: [UInt8], from byte: Int) {
    self.bytes = bytes
    offset = 8 * byte
  }

  /// Returns the next number of `count` bits, at most 32; nil after the end.
  mutating func take(_ count: Int) -> Int? {
    let start = offset
    guard skip(count) else { return nil }
    var value = 0
    var done = 0
    while done < count {
      let bit = (start + done) & 7
      let width = min(8 - bit, count - done)
      let part = Int(bytes[(start + done) >> 3]) >> bit & (1 << width - 1)
      value |= part << done
      done += width
    }
    return value
  }

  /// Skips `count` bits. Returns false if the data ends before.
  mutating func skip(_ count: Int) -> Bool {
    guard count <= 8 * bytes.count - offset else { return false }
    offset += count
    return true
  }
}
