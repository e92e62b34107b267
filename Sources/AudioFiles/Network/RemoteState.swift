import CLinuxFiles
import Glibc

/// The state shared by the reader and the network thread.
struct RemoteState {
  var situation = FetchSituation()
  let cache: SparseCache
  /// The reason why no more bytes can be downloaded; nil if they can.
  var failure: FileFailure?
  /// Whether a later attempt may succeed.
  var failureMayPass = false
  var isStopped = false
  var isInterrupted = false
  /// The deadline after which reads fail, while the first or the next audio is awaited.
  var soundDeadline: SoundDeadline?
  /// Whether the network thread has been notified of the deadline.
  var isDeadlineKnown = true
  /// The properties of the file from the first response.
  var facts = RemoteFacts()
  var titles = StationTitles()
  var meter = RateMeter()

  init(cache: SparseCache, bounds: RemoteFileBounds) {
    self.cache = cache
    situation.bounds = bounds
  }

  /// The next task of the network thread.
  var nextTask: FetchTask {
    failure == nil ? situation.nextTask(cache.present) : .rest
  }

  /// Whether the network thread must be woken for this task.
  var needsAttention: Bool {
    switch nextTask {
    case .proceed: situation.isPaused
    case .fetch: true
    case .pause: false
    case .rest: situation.transfer != nil
    }
  }

  /// Whether all bytes are stored.
  var isComplete: Bool {
    guard let end = situation.end else { return false }
    return cache.present.firstGap(from: 0) >= end
  }

  /// Returns whether `offset` was passed and cannot be downloaded again, because the server does
  /// not support ranges.
  func isGone(_ offset: Int) -> Bool {
    guard situation.isOpen, !situation.hasRanges else { return false }
    // If no transfer of a file is running, the next one begins at byte 0.
    return offset < (facts.isLive ? cache.present.end : situation.transfer ?? 0)
  }
}

/// The deadline of a reader that waits for audio.
struct SoundDeadline {
  /// The time in seconds of the host clock.
  let time: Double
  /// Whether the deadline is for the first audio of the file.
  let isFirst: Bool
}

/// The properties of a remote file, taken from its first response.
struct RemoteFacts: Equatable, Sendable {
  /// The address after redirects; nil before the first response.
  var location: WebAddress?
  /// The length of the file in bytes; nil if the server does not report it.
  var byteCount: Int?
  /// Whether the server supports ranges.
  var hasRanges = false
  /// Whether it is a radio station, which never ends.
  var isLive = false
  var validator = FileValidator()
  var contentType: String?
  /// The bit rate in bits per second.
  var bitRate: Int?
}

/// A meter of the download rate: a weighted average over recent time in which bytes were needed.
struct RateMeter {
  // The time constant in seconds: the weight of older bytes and seconds falls to 1/e in this time.
  private let memory = 2.0
  private var bytes = 0.0
  private var seconds = 0.0
  private var last: Double?

  /// Starts the measurement: bytes are needed from `now` on.
  mutating func begin(now: Double) {
    if last == nil { last = now }
  }

  /// Suspends the measurement: no bytes are needed from `now` on.
  mutating func pause(now: Double) {
    advance(to: now)
    last = nil
  }

  mutating func received(_ byteCount: Int, now: Double) {
    advance(to: now)
    bytes += Double(byteCount)
  }

  /// Returns the rate in bytes per second; nil if the measurement is too short.
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

/// A set of byte offsets in a file.
struct ByteRanges: Equatable {
  private var bytes = RangeSet<Int>()

  /// The number of bytes in the set.
  private(set) var byteCount = 0

  /// The ranges of the set in ascending order. They neither touch nor overlap.
  var ranges: RangeSet<Int>.Ranges { bytes.ranges }

  /// The offset after the last byte in the set.
  var end: Int { ranges.last?.upperBound ?? 0 }

  /// Returns the first offset from `offset` on that is not in the set.
  func firstGap(from offset: Int) -> Int {
    ranges.first { $0.contains(offset) }?.upperBound ?? offset
  }

  /// Adds `range` and returns the number of bytes that were not in the set before.
  @discardableResult mutating func insert(_ range: Range<Int>) -> Int {
    let new = range.count - known(range)
    bytes.insert(contentsOf: range)
    byteCount += new
    return new
  }

  /// Removes `range`.
  mutating func remove(_ range: Range<Int>) {
    byteCount -= known(range)
    bytes.remove(contentsOf: range)
  }

  /// Returns the number of bytes of `range` that are in the set.
  private func known(_ range: Range<Int>) -> Int {
    ranges.reduce(0) { $0 + $1.clamped(to: range).count }
  }
}

/// The next task of the network thread.
enum FetchTask: Equatable {
  /// Continue the transfer.
  case proceed
  /// Pause the transfer, because enough bytes are stored.
  case pause
  /// Start a transfer at this byte, in place of the running one.
  case fetch(Int)
  /// End the transfer, because all bytes are stored or no more can be downloaded.
  case rest
}

/// The positions of the reader and the transfer, which determine the next task.
struct FetchSituation {
  var bounds = RemoteFileBounds()
  /// The offset of the next byte for the reader.
  var reader = 0
  /// The length of the file, if it is known.
  var end: Int?
  /// Whether the server supports ranges.
  var hasRanges = false
  /// Whether the first response was received.
  var isOpen = false
  /// The offset of the next byte of the transfer; nil if none is running.
  var transfer: Int?
  var isPaused = false

  /// Returns the next task. `present` is the set of stored bytes.
  func nextTask(_ present: ByteRanges) -> FetchTask {
    guard isOpen else { return transfer == nil ? .fetch(0) : .proceed }
    let missing = present.firstGap(from: reader)
    if let end, missing >= end { return .rest }
    // A paused transfer resumes after half of the read-ahead was read. Otherwise it would fetch
    // single packets.
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

/// The stored bytes of a remote file, in a sparse file without a name, which is deleted when the
/// process ends for any reason. Missing bytes are holes in the file.
final class SparseCache {
  private let file: FileDescriptor
  private(set) var present = ByteRanges()

  /// Creates the cache in the first default folder in which this is possible. Throws
  /// `.cannotCreate`.
  convenience init() throws(FileFailure) {
    try self.init(folders: Self.folders)
  }

  /// Creates the cache in the first of `folders` in which this is possible. Throws `.cannotCreate`.
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

  /// The disk space in use, in bytes.
  var occupiedByteCount: Int {
    var status = stat()
    // The unit of `st_blocks` is 512 bytes, independent of the block size.
    return fstat(file.number, &status) == 0 ? Int(status.st_blocks) * 512 : 0
  }

  /// Stores `bytes` at `offset` and returns the number of bytes that were missing before.
  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(SystemError) -> Int {
    try OutputBytes.write(bytes, at: offset, to: file.number)
    return present.insert(offset..<offset + bytes.count)
  }

  /// Fills `bytes` with the stored bytes from `offset` on, and returns their number.
  func read(
    into bytes: UnsafeMutableRawBufferPointer, at offset: Int
  ) throws(SystemError) -> Int {
    let ready = min(bytes.count, present.firstGap(from: offset) - offset)
    guard ready > 0 else { return 0 }
    let count = try file.read(
      into: UnsafeMutableRawBufferPointer(rebasing: bytes[..<ready]), at: offset)
    // The set contains these bytes, so an end of the file here is an error.
    guard count > 0 else { throw SystemError(number: EIO) }
    return count
  }

  /// Discards whole blocks until about `bound` bytes are left: first the blocks farthest before
  /// `reader`, then those farthest after it.
  func shrink(to bound: Int, reader: Int) {
    while present.byteCount > bound,
      let range = partBehind(reader, present.byteCount - bound)
        ?? partAhead(of: reader, present.byteCount - bound)
    {
      discard(range)
    }
  }

  /// Returns the range farthest before `reader`, of about `count` bytes; nil if there is none.
  private func partBehind(_ reader: Int, _ count: Int) -> Range<Int>? {
    guard let first = present.ranges.first, first.lowerBound < reader else { return nil }
    let enough = (first.lowerBound + count + Self.block - 1) / Self.block * Self.block
    var end = min(first.upperBound, reader, enough)
    if end < first.upperBound { end = end / Self.block * Self.block }
    return end > first.lowerBound ? first.lowerBound..<end : nil
  }

  /// Returns the range farthest after `reader`, of about `count` bytes; nil if there is none.
  private func partAhead(of reader: Int, _ count: Int) -> Range<Int>? {
    guard let last = present.ranges.last else { return nil }
    var start = max(last.lowerBound, reader, last.upperBound - count)
    if start > last.lowerBound { start = (start + Self.block - 1) / Self.block * Self.block }
    return start < last.upperBound ? start..<last.upperBound : nil
  }

  private static let block = 4096

  /// Removes `range` from the set, and frees its blocks that contain no remaining bytes.
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

  /// Returns the value of an environment variable if it is an absolute path; otherwise nil.
  private static func variable(_ name: String) -> String? {
    FileName.variable(name).flatMap { $0.hasPrefix("/") ? $0 : nil }
  }

  private static func open(in folder: String) -> Int32 {
    try? FileSystem.makeFolders(of: folder + "/")
    if let unnamed = try? FileSystem.openUnnamed(in: folder, mode: 0o600) { return unnamed }
    // Some file systems do not support files without a name.
    let path = "\(folder)/remote-\(UInt64.random(in: 0 ... .max))"
    guard
      let named = try? FileSystem.open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
    else { return -1 }
    try? FileSystem.remove(path)
    return named
  }
}
