import AudioBasics
import Synchronization

/// A byte source with a read position and a buffer of 16 KiB, so that decoders can read a few bytes
/// at a time.
///
/// An interruption is not permanent: the next read queries the source again.
final class BufferedBytes: RandomAccessBytes, @unchecked Sendable {
  // @unchecked because one thread at a time reads, and what other threads ask for is atomic.
  let source: any ByteSource
  /// The maximum number of bytes of a read that goes through the buffer. Longer reads bypass it.
  private static let maximumKeptByteCount = 4096
  /// The maximum number of bytes that `peek` can return.
  static let maximumPeeked = 16384
  private let memory = UnsafeMutableRawBufferPointer.allocate(
    byteCount: maximumPeeked, alignment: 16)
  /// The offsets of the first buffered byte (`start`) and of the byte after the last one (`end`).
  private let start = Atomic(0)
  private let end = Atomic(0)
  private let storedPosition = Atomic(0)

  /// The failure of a read in a callback of a C library, through which it cannot be thrown.
  private var failure: FileFailure?
  /// Whether a read returned fewer bytes than available because it was interrupted.
  private(set) var wasInterrupted = false
  /// Whether the source returned no bytes before the end that its byte count states, although it
  /// was not interrupted.
  private(set) var endsEarly = false
  /// The number of times that such a source is asked again: an interruption may be over when its
  /// flag is read.
  private static let repeatedReads = 3
  /// The limit on bytes read while a file is being opened; nil otherwise.
  private var allowance: OpeningAllowance?

  init(_ source: any ByteSource) {
    self.source = source
  }

  deinit {
    memory.deallocate()
  }

  var name: String { source.name }

  /// The total number of bytes; nil if the source has no end or its length is unknown.
  var byteCount: Int? { source.byteCount.map { min(max(0, $0), FileBounds.byteCount) } }

  /// Whether bytes can be read at any offset, and the length is known.
  var isSeekable: Bool { source.isSeekable && source.byteCount != nil }

  /// The offset of the next byte to read. Setting it reads nothing.
  var position: Int {
    get { storedPosition.load(ordering: .relaxed) }
    set { storedPosition.store(newValue, ordering: .relaxed) }
  }

  /// Returns the next `count` bytes (at most 16 KiB), or fewer at the end or after an interruption.
  /// The bytes are valid until the next call. The position does not change.
  func peek(_ count: Int) throws(FileFailure) -> UnsafeRawBufferPointer {
    requirement(count <= memory.count, "More bytes were asked for at once than are kept.")
    let from = position
    guard try approach(from) else { return UnsafeRawBufferPointer(start: nil, count: 0) }
    if from + count > start.load(ordering: .relaxed) + memory.count { dropBytes(before: from) }
    while end.load(ordering: .relaxed) < from + count {
      guard try fill() > 0 else { break }
    }
    let upper = max(from, min(from + count, end.load(ordering: .relaxed)))
    let base = start.load(ordering: .relaxed)
    return UnsafeRawBufferPointer(rebasing: memory[from - base..<upper - base])
  }

  /// Returns `count` bytes (at most 16 KiB) at `offset`. The position does not change.
  func bytes(at offset: Int, count: Int) throws(FileFailure) -> [UInt8] {
    let before = position
    defer { position = before }
    position = offset
    return Array(try peek(count))
  }

  /// Fills `bytes` and returns the number of bytes read. Reads fewer bytes only at the end or after
  /// an interruption, or, if `isWhole` is false, if fewer are available.
  func read(
    into bytes: UnsafeMutableRawBufferPointer, isWhole: Bool = true
  ) throws(FileFailure) -> Int {
    var done = 0
    try read(into: bytes, isWhole: isWhole, done: &done)
    return done
  }

  /// Reads as above. `done` receives the number of bytes read, even if an error is thrown.
  private func read(
    into bytes: UnsafeMutableRawBufferPointer, isWhole: Bool, done: inout Int
  ) throws(FileFailure) {
    while done < bytes.count {
      let rest = UnsafeMutableRawBufferPointer(rebasing: bytes[done...])
      if rest.count > Self.maximumKeptByteCount, try approach(position),
        position == end.load(ordering: .relaxed)
      {
        // None of these bytes are buffered: read them directly into the caller's memory.
        defer { start.store(end.load(ordering: .relaxed), ordering: .relaxed) }
        let count = try fetch(into: rest, at: position)
        position += count
        done += count
        if count == 0 || !isWhole { break }
        continue
      }
      _ = try peek(1)
      let held = try peek(
        min(bytes.count - done, max(0, end.load(ordering: .relaxed) - position)))
      guard held.count > 0 else { break }
      rest.copyMemory(from: held)
      done += held.count
      position += held.count
      if !isWhole { break }
    }
  }

  /// Reads like `read`, for C callbacks. Stores a failure for `check` instead of throwing it, and
  /// returns the number of bytes read before the failure.
  func readForCallback(_ bytes: UnsafeMutableRawPointer?, _ count: Int, isWhole: Bool) -> Int {
    guard let bytes, count > 0, failure == nil else { return 0 }
    var done = 0
    do throws(FileFailure) {
      try read(
        into: UnsafeMutableRawBufferPointer(start: bytes, count: count), isWhole: isWhole,
        done: &done)
    } catch {
      failure = error
    }
    return done
  }

  /// Stores a failure found in the bytes that a callback read, for `check`.
  func fail(_ failure: FileFailure) {
    self.failure = failure
  }

  /// Whether a read failed in a callback, or returned fewer bytes than stated.
  var isStopped: Bool { failure != nil || wasInterrupted || endsEarly }

  /// Throws the failure that occurred in a callback, and clears it.
  func check() throws(FileFailure) {
    guard let failure else { return }
    self.failure = nil
    throw failure
  }

  /// Calls `open` and limits the number of bytes it may read to the size that the headers of an
  /// audio file may have. Throws `.unusableContents` if `open` exceeds the limit, and the errors
  /// that `open` throws.
  func opening<Opened>(
    _ open: () throws(FileFailure) -> Opened
  ) throws(FileFailure) -> Opened {
    // Reading a local file costs only time, in proportion to its length.
    allowance = OpeningAllowance(byteCount: source is LocalFile ? byteCount : nil)
    defer { allowance = nil }
    return try open()
  }

  /// Throws `.unusableContents` if the source ended before the end that its byte count states.
  func checkByteCount() throws(FileFailure) {
    guard endsEarly, let byteCount else { return }
    throw FileFailure(
      .unusableContents,
      "\(name) is cut short: it ends after \(end.load(ordering: .relaxed)) of \(byteCount) bytes.",
      hint: .restElsewhere(isAny: true))
  }

  /// Clears the flags of an interruption and of an early end. The caller has completed the
  /// interrupted work.
  func recover() {
    wasInterrupted = false
    endsEarly = false
  }

  /// Makes the source fetch from the current position. C libraries read the end of a file when they
  /// open it, and then seek back without a read, which a network source does not notice. Throws
  /// `.readFailed` if the read is interrupted.
  func prepare() throws(FileFailure) {
    guard isSeekable else { return }
    _ = try peek(1)
    try checkOpening()
  }

  /// Returns whether reading at `bytesPerSecond` can continue without blocking soon. This is true
  /// if `seconds` of data are available (3 s if nil), or all remaining data; if `seconds` is nil,
  /// also if 0.5 s are available and data arrives at 1.5 times `bytesPerSecond` or more. It is also
  /// true if the source can deliver no more data, or none before the next read. Any thread.
  func isReady(bytesPerSecond: Double, prebuffer seconds: Double? = nil) -> Bool {
    if source.isBroken { return true }
    let offset = position
    let isHeld = offset >= start.load(ordering: .relaxed) && offset <= end.load(ordering: .relaxed)
    let next = isHeld ? end.load(ordering: .relaxed) : offset
    if source.isWaiting(forReadAt: next) { return true }
    let ready = min(max(0, source.readyByteCount(at: next)), FileBounds.byteCount)
    if let byteCount, next + ready >= byteCount { return true }
    let held = Double(next - offset + ready)
    if held >= (seconds ?? 3) * bytesPerSecond { return true }
    guard seconds == nil, let incoming = source.bytesPerSecond else { return false }
    return held >= bytesPerSecond / 2 && incoming >= 1.5 * bytesPerSecond
  }

  /// Arranges that `offset` is within the buffered bytes or directly after them. Returns false if
  /// the end or an interruption occurs before `offset`.
  private func approach(_ offset: Int) throws(FileFailure) -> Bool {
    let held = end.load(ordering: .relaxed)
    if offset >= start.load(ordering: .relaxed) && offset <= held { return true }
    if source.isSeekable {
      start.store(offset, ordering: .relaxed)
      end.store(offset, ordering: .relaxed)
      allowance?.jump()
      return true
    }
    guard offset > held else { throw .onlyForward(name) }
    while end.load(ordering: .relaxed) < offset {
      dropBytes(before: end.load(ordering: .relaxed))
      guard try fill() > 0 else { break }
    }
    return end.load(ordering: .relaxed) >= offset
  }

  private func dropBytes(before offset: Int) {
    let rest = end.load(ordering: .relaxed) - offset
    guard let base = memory.baseAddress else { return }
    base.copyMemory(from: base + (offset - start.load(ordering: .relaxed)), byteCount: rest)
    start.store(offset, ordering: .relaxed)
  }

  /// Appends bytes from the source to the buffer and returns their number; 0 at the end.
  private func fill() throws(FileFailure) -> Int {
    let next = end.load(ordering: .relaxed)
    let used = next - start.load(ordering: .relaxed)
    return try fetch(into: UnsafeMutableRawBufferPointer(rebasing: memory[used...]), at: next)
  }

  /// Fills `room` with bytes of the source at `next`, the end of the buffered bytes, and returns
  /// their number; 0 at the end.
  private func fetch(
    into room: UnsafeMutableRawBufferPointer, at next: Int
  ) throws(FileFailure) -> Int {
    // Servers reject requests for bytes after the end.
    if let byteCount, next >= byteCount { return 0 }
    var count = try readSource(into: room, at: next)
    var repeats = 0
    while count == 0, byteCount != nil, repeats < Self.repeatedReads, !source.isInterrupted {
      count = try readSource(into: room, at: next)
      repeats += 1
    }
    if count == 0 {
      if source.isInterrupted {
        wasInterrupted = true
      } else if byteCount != nil {
        endsEarly = true
      }
    }
    end.store(next + count, ordering: .relaxed)
    guard allowance?.take(count) ?? true else { throw .noSoundWithin(name, next + count) }
    return count
  }

  /// Reads bytes of the source at `offset`, and returns their number.
  private func readSource(
    into room: UnsafeMutableRawBufferPointer, at offset: Int
  ) throws(FileFailure) -> Int {
    let count = try source.read(into: room, at: offset)
    requirement(
      count >= 0 && count <= room.count,
      "A byte source must return a count from 0 to the size of the memory that it fills.")
    return count
  }
}
