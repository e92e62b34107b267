import CLinuxFiles
import Glibc

/// State shared by the reader and the network thread.
struct RemoteState {
  var situation = FetchSituation()
  let cache: SparseCache
  /// Since when no more can be had.
  var failure: FileFailure?
  /// Whether a later try may do better.
  var failureMayPass = false
  var isStopped = false
  var isInterrupted = false
  /// When reads fail: while it is not known yet whether there is any sound, or any more.
  var soundDeadline: SoundDeadline?
  /// Whether the network thread knows of it.
  var isDeadlineKnown = true
  /// Of the first response.
  var facts = RemoteFacts()
  var titles = StationTitles()
  var meter = RateMeter()

  init(cache: SparseCache, bounds: RemoteFileBounds) {
    self.cache = cache
    situation.bounds = bounds
  }

  /// What the network thread is to do.
  var order: FetchDecision {
    failure == nil ? situation.order(cache.present) : .rest
  }

  /// Whether the network thread must be woken to do it.
  var needsAttention: Bool {
    switch order {
    case .proceed: situation.isPaused
    case .fetch: true
    case .pause: false
    case .rest: situation.transfer != nil
    }
  }

  /// Whether every byte is here.
  var isComplete: Bool {
    guard let end = situation.end else { return false }
    return cache.present.firstGap(from: 0) >= end
  }

  /// Whether `offset` lies behind what a server that only goes forward will bring.
  func isGone(_ offset: Int) -> Bool {
    guard situation.isOpen, !situation.hasRanges else { return false }
    // A transfer of a file begins anew where the next one begins.
    return offset < (facts.isLive ? cache.present.end : situation.transfer ?? 0)
  }
}

/// Until when a reader waits for sound.
struct SoundDeadline {
  /// In seconds of the host's clock.
  let time: Double
  /// Whether it is for the first of it.
  let isFirst: Bool
}

/// Properties of a remote file, known from its first response on.
struct RemoteFacts: Equatable, Sendable {
  /// Where redirects led to it; nil before the first response.
  var location: WebAddress?
  /// All its bytes; nil where the server does not say.
  var byteCount: Int?
  /// Whether the server begins where it is told to.
  var hasRanges = false
  /// Whether it is a radio station, which goes on for ever.
  var isLive = false
  var validator = FileValidator()
  var contentType: String?
  /// Bits a second.
  var bitRate: Int?
}

/// Meter of the download rate: an average over the last seconds in which bytes were wanted.
struct RateMeter {
  // Older bytes and older seconds count less: a third after as long as this.
  private let memory = 2.0
  private var bytes = 0.0
  private var seconds = 0.0
  private var last: Double?

  /// From now on bytes are wanted.
  mutating func begin(now: Double) {
    if last == nil { last = now }
  }

  /// From now on no bytes are wanted.
  mutating func pause(now: Double) {
    advance(to: now)
    last = nil
  }

  mutating func received(_ byteCount: Int, now: Double) {
    advance(to: now)
    bytes += Double(byteCount)
  }

  /// Bytes a second; nil before there was time to measure.
  func rate(now: Double) -> Double? {
    var meter = self
    meter.advance(to: now)
    return meter.seconds > 0.01 ? meter.bytes / meter.seconds : nil
  }

  private mutating func advance(to now: Double) {
    guard let last else { return }
    let passed = max(0, now - last)
    let kept = exp(-passed / memory)
    bytes *= kept
    seconds = seconds * kept + memory * (1 - kept)
    self.last = now
  }
}

/// A set of bytes of a file.
struct ByteRanges: Equatable {
  private var bytes = RangeSet<Int>()

  /// How many bytes are in the set.
  private(set) var byteCount = 0

  /// In order; they neither touch nor overlap.
  var ranges: RangeSet<Int>.Ranges { bytes.ranges }

  /// Behind the last of them.
  var end: Int { ranges.last?.upperBound ?? 0 }

  /// The first byte from `offset` on that is not in the set.
  func firstGap(from offset: Int) -> Int {
    ranges.first { $0.contains(offset) }?.upperBound ?? offset
  }

  /// Adds `range` and returns how many of its bytes are new.
  @discardableResult mutating func insert(_ range: Range<Int>) -> Int {
    let new = range.count - known(range)
    bytes.insert(contentsOf: range)
    byteCount += new
    return new
  }

  /// Takes `range` out.
  mutating func remove(_ range: Range<Int>) {
    byteCount -= known(range)
    bytes.remove(contentsOf: range)
  }

  /// How many bytes of `range` are in the set.
  private func known(_ range: Range<Int>) -> Int {
    ranges.reduce(0) { $0 + $1.clamped(to: range).count }
  }
}

/// Order to the network thread: what to do next.
enum FetchDecision: Equatable {
  /// Carry the transfer on.
  case proceed
  /// So much is there that the transfer can pause.
  case pause
  /// Begin a transfer at this byte, instead of any that runs.
  case fetch(Int)
  /// All is there, or no more can be had: end the transfer.
  case rest
}

/// Positions of the reader and the transfer, from which the next order follows.
struct FetchSituation {
  var bounds = RemoteFileBounds()
  /// The byte the reader wants next.
  var reader = 0
  /// Behind the last byte of the file, where that is known.
  var end: Int?
  /// Whether the server begins where it is told to.
  var hasRanges = false
  /// Whether the first response came.
  var isOpen = false
  /// The byte the transfer brings next; nil where none runs.
  var transfer: Int?
  var isPaused = false

  /// What to do, with `present` here.
  func order(_ present: ByteRanges) -> FetchDecision {
    guard isOpen else { return transfer == nil ? .fetch(0) : .proceed }
    let missing = present.firstGap(from: reader)
    if let end, missing >= end { return .rest }
    // Half of it is read before a transfer that paused goes on: not one packet at a time.
    let isResting = isPaused || transfer == nil
    let enough = isResting ? bounds.readAhead / 2 : bounds.readAhead
    guard let transfer else {
      if missing - reader >= max(1, enough) { return .pause }
      return .fetch(hasRanges ? missing : present.end)
    }
    if hasRanges && !(transfer...transfer + bounds.gap).contains(missing) {
      return missing - reader >= max(1, enough) ? .pause : .fetch(missing)
    }
    return missing - reader >= max(1, enough) ? .pause : .proceed
  }
}

/// The bytes of a remote file that are here: a file without a name, which goes with the process
/// however that ends, with holes where bytes are not.
final class SparseCache {
  private let file: FileDescriptor
  private(set) var present = ByteRanges()

  /// In the first of the usual folders that takes it. Throws `.cannotCreate`.
  convenience init() throws(FileFailure) {
    try self.init(folders: Self.folders)
  }

  /// In the first of `folders` that takes it. Throws `.cannotCreate`.
  init(folders: [String]) throws(FileFailure) {
    var opened: Int32 = -1
    for folder in folders where opened < 0 { opened = Self.open(in: folder) }
    guard opened >= 0 else {
      throw FileFailure(
        .cannotCreate, "No cache can be made in \(folders.joined(separator: " or ")).",
        hint: "Make one of these folders writable, or name another in XDG_CACHE_HOME.")
    }
    file = FileDescriptor(owning: opened)
  }

  /// Bytes that it takes up on its disk.
  var occupiedByteCount: Int {
    var status = stat()
    // Blocks are counted in units of 512 bytes, whatever their size is.
    return fstat(file.number, &status) == 0 ? Int(status.st_blocks) * 512 : 0
  }

  /// Keeps `bytes` from `offset` on and returns how many of them were not there.
  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(SystemError) -> Int {
    try OutputBytes.write(bytes, at: offset, to: file.number)
    return present.insert(offset..<offset + bytes.count)
  }

  /// Fills `bytes` as far as what begins at `offset` is here, and returns how many.
  func read(
    into bytes: UnsafeMutableRawBufferPointer, at offset: Int
  ) throws(SystemError) -> Int {
    let ready = min(bytes.count, present.firstGap(from: offset) - offset)
    guard ready > 0 else { return 0 }
    let count = try file.read(
      into: UnsafeMutableRawBufferPointer(rebasing: bytes[..<ready]), at: offset)
    // The set says the bytes are there, so an end is damage.
    guard count > 0 else { throw SystemError(number: EIO) }
    return count
  }

  /// Gives up whole blocks until about `bound` bytes are left: those farthest behind `reader`
  /// first, then those farthest ahead of it.
  func shrink(to bound: Int, reader: Int) {
    while present.byteCount > bound,
      let range = partBehind(reader, present.byteCount - bound)
        ?? partAhead(of: reader, present.byteCount - bound)
    {
      discard(range)
    }
  }

  /// The part farthest behind `reader`, about `count` bytes; nil where there is none.
  private func partBehind(_ reader: Int, _ count: Int) -> Range<Int>? {
    guard let first = present.ranges.first, first.lowerBound < reader else { return nil }
    let enough = (first.lowerBound + count + Self.block - 1) / Self.block * Self.block
    var end = min(first.upperBound, reader, enough)
    if end < first.upperBound { end = end / Self.block * Self.block }
    return end > first.lowerBound ? first.lowerBound..<end : nil
  }

  /// The part farthest ahead of `reader`.
  private func partAhead(of reader: Int, _ count: Int) -> Range<Int>? {
    guard let last = present.ranges.last else { return nil }
    var start = max(last.lowerBound, reader, last.upperBound - count)
    if start > last.lowerBound { start = (start + Self.block - 1) / Self.block * Self.block }
    return start < last.upperBound ? start..<last.upperBound : nil
  }

  private static let block = 4096

  /// Gives `range` up, and the blocks it shares with no byte that stays.
  private func discard(_ range: Range<Int>) {
    present.remove(range)
    let before = range.lowerBound / Self.block * Self.block
    let behind = (range.upperBound + Self.block - 1) / Self.block * Self.block
    let lower = isEmpty(before..<range.lowerBound) ? before : range.lowerBound
    let upper = isEmpty(range.upperBound..<behind) ? behind : range.upperBound
    _ = linux_punch_hole(file.number, Int64(lower), Int64(upper - lower))
  }

  private func isEmpty(_ range: Range<Int>) -> Bool {
    !present.ranges.contains { $0.overlaps(range) }
  }

  private static var folders: [String] {
    var folders: [String] = []
    if let cache = variable("XDG_CACHE_HOME") {
      folders.append("\(cache)/duplex")
    } else if let home = variable("HOME") {
      folders.append("\(home)/.cache/duplex")
    }
    return folders + ["/tmp"]
  }

  /// An absolute path in the environment.
  private static func variable(_ name: String) -> String? {
    FileName.variable(name).flatMap { $0.hasPrefix("/") ? $0 : nil }
  }

  private static func open(in folder: String) -> Int32 {
    try? FileSystem.makeFolders(of: folder + "/")
    if let unnamed = try? FileSystem.openUnnamed(in: folder, mode: 0o600) { return unnamed }
    // Some file systems know no files without a name.
    let path = "\(folder)/remote-\(UInt64.random(in: 0 ... .max))"
    guard
      let named = try? FileSystem.open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
    else { return -1 }
    try? FileSystem.remove(path)
    return named
  }
}
