import CVorbisFile

/// Looks at the headers of each stream in an Ogg file before the libraries do. libvorbis makes
/// tables of as many entries as a code book announces (Vorbis I specification, 4.2.4): in four
/// kilobytes there is room for 256 books of 2^23 entries, gigabytes. And where one can go about in
/// a file, the libraries keep the headers of all streams that follow each other in it.
///
/// It finds pages by libogg, and packets by its rules, and so sees what the libraries see.
final class OggHeaderCheck {
  /// Reason why headers are kept from the libraries.
  enum Refusal {
    /// Code books that no encoder writes.
    case books
    /// Comments that are longer than any real file's.
    case comments
    /// Streams that all begin, and of which none goes on.
    case streams
    /// Headers that may come one after the other, but not all be kept.
    case chain
    /// There is no memory to look at them.
    case memory
  }

  /// Values of all code books of a stream, at most; libvorbis's encoder writes up to 90,000, and
  /// each takes up to 40 bytes.
  private static let mostValues = 1 << 19
  /// Bytes that the libraries keep of the headers of all streams of a file.
  private static let mostKept = 1 << 24
  /// Bytes that libopusfile keeps of a stream besides its comments.
  private static let keptOfOpus = 1024
  /// Streams that begin and are not set up yet.
  static let mostStreams = 64
  /// Bytes of a set-up header.
  private static let longestSetup = 1 << 20
  /// Bytes of all comments of a stream, and what else a picture in them needs: libogg and the
  /// library hold up to three times as much.
  static let longestComments = 12 << 20

  /// Bytes before a set-up header.
  private static let farthest = 1 << 25

  private var sync = ogg_sync_state()
  private var streams: [Int32: HeaderPackets] = [:]
  private var keptByteCount = 0
  /// Whether the headers of all streams found are kept.
  var keepsAll = false
  /// Whether the first page was found that is whole, and what it says.
  private(set) var beginning: OggContents?
  private(set) var isSetUp = false
  private(set) var refusal: Refusal?

  init() {
    ogg_sync_init(&sync)
  }

  deinit {
    ogg_sync_clear(&sync)
  }

  /// Whether what was read last is the beginning of a page that did not come whole.
  var holdsTornPage: Bool {
    guard let data = sync.data, sync.fill > sync.returned else { return false }
    let rest = UnsafeRawBufferPointer(
      start: data + Int(sync.returned), count: Int(sync.fill - sync.returned))
    return "OggS".utf8.prefix(rest.count).elementsEqual(rest.prefix(4))
  }

  /// What comes next does not follow what came last.
  func jump() {
    ogg_sync_reset(&sync)
    streams = [:]
  }

  /// Looks at what a library reads next. False where it must not see it: `refusal` says why.
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
      if found > 0 { refusal = look(at: &page) }
      guard refusal == nil else { return false }
    }
  }

  /// Throws `.unusableContents` where the first whole page of an Ogg file begins a Vorbis stream
  /// whose header libvorbis must not see. Says nothing of other files.
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

  private func look(at page: inout ogg_page) -> Refusal? {
    let body = UnsafeRawBufferPointer(start: page.body, count: page.body_len)
    let serial = ogg_page_serialno(&page)
    if ogg_page_bos(&page) != 0 {
      let contents = OggContents(packet: body)
      if beginning == nil { beginning = contents }
      if contents != .other { streams[serial] = HeaderPackets(contents) }
    }
    guard streams.count <= Self.mostStreams else { return .streams }
    guard let stream = streams[serial] else { return nil }
    stream.add(&page, body, longest: Self.longestComments)
    guard stream.byteCount <= Self.longestComments else { return .comments }
    guard stream.last.count <= Self.longestSetup else { return .books }
    guard stream.isComplete else { return nil }
    streams[serial] = nil
    if stream.contents == beginning { isSetUp = true }
    var kept = stream.commentByteCount
    if stream.contents == .opus {
      kept += Self.keptOfOpus
    } else {
      let cost = VorbisSetupCost(stream.last, mostValues: Self.mostValues)
      guard cost.valueCount <= Self.mostValues else { return .books }
      kept += cost.keptByteCount
    }
    if keepsAll { keptByteCount += kept }
    return keptByteCount <= Self.mostKept ? nil : .chain
  }
}

/// The packets of one stream up to its last header, of which only that is kept (RFC 3533, 6; as
/// libogg puts them together).
private final class HeaderPackets {
  let contents: OggContents
  /// Of the packet that is being put together, its first bytes, or all of a set-up header.
  private var packet: [UInt8] = []
  /// Bytes of all of it.
  private(set) var byteCount = 0
  private var isPartial = false
  private var sequence = -1
  private(set) var commentByteCount = 0
  /// Whether the last header is whole.
  private(set) var isComplete = false

  /// The last header, as far as it came: the set-up of Vorbis, nothing of others.
  var last: [UInt8] { Self.isSetup(packet) ? packet : [] }

  init(_ contents: OggContents) {
    self.contents = contents
  }

  /// Takes the packets of `page`, up to the last header, or until one has more than `longest`
  /// bytes.
  func add(_ page: inout ogg_page, _ body: UnsafeRawBufferPointer, longest: Int) {
    let number = Int(ogg_page_pageno(&page))
    if number != sequence { isPartial = false }
    sequence = number + 1
    // The rest of a packet whose beginning is lost.
    var isSkipped = ogg_page_continued(&page) != 0 && !isPartial
    if !isPartial { begin() }
    var offset = 0
    for index in 0..<Int(page.header[26]) where !isComplete && byteCount <= longest {
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

  /// Of other packets the first bytes, which say what they are.
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

/// Memory that libvorbis allocates for a set-up header (Vorbis I specification, 4.2.4). Where the
/// header is damaged, up to there: libvorbis reads no further either.
private struct VorbisSetupCost {
  /// Entries of the code books, each of as many values as its book has dimensions.
  private(set) var valueCount = 0
  /// Bytes that are kept while the stream is known, whether it is played or not.
  private(set) var keptByteCount = 0
  private var bits: LowBits

  /// The sizes of libvorbis's structures.
  private enum Size {
    static let book = 128
    static let floor = 1200
    static let residue = 2900
    static let mapping = 3300
  }

  init(_ header: [UInt8], mostValues: Int) {
    bits = LowBits(header, from: 7)
    guard skipBooks(mostValues), skipTimes(), skipFloors(), skipResidues() else { return }
    keptByteCount += Size.mapping * ((bits.take(6) ?? 0) + 1)
  }

  /// 3.2.1
  private mutating func skipBooks(_ mostValues: Int) -> Bool {
    guard let last = bits.take(8) else { return false }
    for _ in 0...last {
      guard bits.take(24) == 0x564342, let dimensions = bits.take(16),
        let entries = bits.take(24)
      else { return false }
      valueCount += entries * max(1, dimensions)
      keptByteCount += Size.book + entries
      guard valueCount <= mostValues, skipLengths(entries), skipValues(entries, dimensions) else {
        return false
      }
    }
    return true
  }

  private mutating func skipTimes() -> Bool {
    bits.take(6).map { bits.skip(16 * ($0 + 1)) } ?? false
  }

  /// 6.2.1 and 7.2.2
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

  /// 8.6.1
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
        // Lengths that no entry has are no progress, but they use up the header.
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

  /// The specification's `ilog`.
  private static func bitCount(_ value: Int) -> Int { Int.bitWidth - value.leadingZeroBitCount }

  /// The specification's `lookup1_values`: the greatest number whose power is not above `entries`.
  private static func root(_ entries: Int, _ dimensions: Int) -> Int {
    guard dimensions > 0 else { return 0 }
    var root = 0
    while power(root + 1, dimensions, isWithin: entries) { root += 1 }
    return root
  }

  private static func power(_ base: Int, _ exponent: Int, isWithin most: Int) -> Bool {
    guard base > 1 else { return base <= most }
    var power = 1
    for _ in 0..<exponent {
      power *= base
      if power > most { return false }
    }
    return true
  }
}

/// Numbers in bytes, the lowest bit first (Vorbis I specification, 2).
private struct LowBits {
  private let bytes: [UInt8]
  private var offset: Int

  init(_ bytes: [UInt8], from byte: Int) {
    self.bytes = bytes
    offset = 8 * byte
  }

  /// The next number of at most 32 bits; nil behind the end.
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

  /// False behind the end.
  mutating func skip(_ count: Int) -> Bool {
    guard count <= 8 * bytes.count - offset else { return false }
    offset += count
    return true
  }
}
