import AudioBasics
import Synchronization

/// A byte source with a place in it, read in pieces of up to 16 KiB, so that decoders may ask for a
/// few bytes at a time.
///
/// Nothing here is final: after an interruption the next read asks the source anew.
final class BufferedBytes: PlacedBytes, @unchecked Sendable {
  // @unchecked because one thread at a time reads, and what other threads ask for is atomic.
  let source: any ByteSource
  /// Bytes of a read that is made through the memory; longer ones go past it.
  private static let longestKept = 4096
  /// Bytes that `peek` can be asked for, at most.
  static let mostPeeked = 16384
  private let memory = UnsafeMutableRawBufferPointer.allocate(
    byteCount: mostPeeked, alignment: 16)
  /// What is held lies from `start` to `end`.
  private let start = Atomic(0)
  private let end = Atomic(0)
  private let place = Atomic(0)

  /// Failure inside a callback of a C library, which cannot throw it.
  private var failure: FileFailure?
  /// Whether a read came back with less than was there, because it was interrupted.
  private(set) var wasInterrupted = false
  /// Limit on what is read while it is not known whether there is sound; nil once it is.
  private var allowance: OpeningAllowance?

  init(_ source: any ByteSource) {
    self.source = source
  }

  deinit {
    memory.deallocate()
  }

  var name: String { source.name }

  /// Bytes in all, where there is an end that is known.
  var byteCount: Int? { source.byteCount.map { min(max(0, $0), FileBounds.byteCount) } }

  /// Whether bytes can be had from any place, and the end is known.
  var isSeekable: Bool { source.isSeekable && source.byteCount != nil }

  /// Where the next byte is read. Setting it reads nothing.
  var position: Int {
    get { place.load(ordering: .relaxed) }
    set { place.store(newValue, ordering: .relaxed) }
  }

  /// The next `count` bytes (16 KiB at most), fewer at the end or after an interruption. They stay
  /// until the next call; the position stays as well.
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

  /// The bytes at `place`, 16 KiB of them at most; the position stays.
  func bytes(at place: Int, count: Int) throws(FileFailure) -> [UInt8] {
    let before = position
    defer { position = before }
    position = place
    return Array(try peek(count))
  }

  /// Fills `bytes`, but for the end or an interruption; with what is there where `isWhole` is
  /// false.
  func read(
    into bytes: UnsafeMutableRawBufferPointer, isWhole: Bool = true
  ) throws(FileFailure) -> Int {
    var done = 0
    try read(into: bytes, isWhole: isWhole, done: &done)
    return done
  }

  /// The same. `done` becomes how many bytes were read, also where it throws.
  private func read(
    into bytes: UnsafeMutableRawBufferPointer, isWhole: Bool, done: inout Int
  ) throws(FileFailure) {
    while done < bytes.count {
      let rest = UnsafeMutableRawBufferPointer(rebasing: bytes[done...])
      if rest.count > Self.longestKept, try approach(position),
        position == end.load(ordering: .relaxed)
      {
        // Nothing of it is held: it goes where it is wanted.
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

  /// As `read`, for callbacks: a failure waits for `check`, and what came before it is given.
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

  /// Keeps what is wrong with the bytes that a callback read, for `check`.
  func fail(_ failure: FileFailure) {
    self.failure = failure
  }

  /// Whether a read came back with less than was there.
  var isStopped: Bool { failure != nil || wasInterrupted }

  /// Throws what went wrong inside a callback.
  func check() throws(FileFailure) {
    guard let failure else { return }
    self.failure = nil
    throw failure
  }

  /// Lets `open` read as much as a beginning of sound may take. Throws `.unusableContents` where it
  /// takes more, and what `open` throws.
  func opening<Opened>(
    _ open: () throws(FileFailure) -> Opened
  ) throws(FileFailure) -> Opened {
    // What is near costs nothing but time, and that is in proportion to its length.
    allowance = OpeningAllowance(byteCount: source is LocalFile ? byteCount : nil)
    defer { allowance = nil }
    return try open()
  }

  /// Forgets an interruption: the caller has made good what it left undone.
  func recover() {
    wasInterrupted = false
  }

  /// Makes the source fetch from the place on: C libraries look at the end of a file when they open
  /// it, and go back without a read, of which a source behind a network learns nothing. Throws
  /// `.readFailed` where that was interrupted.
  func prepare() throws(FileFailure) {
    guard isSeekable else { return }
    _ = try peek(1)
    try checkOpening()
  }

  /// Whether reading on at `bytesPerSecond` need not wait soon: `seconds` are there, or all that is
  /// left; where `seconds` is nil, three seconds, or half a second and more comes in than is
  /// needed; or no more will come, or not before more is read. Any thread.
  func isReady(bytesPerSecond: Double, prebuffer seconds: Double? = nil) -> Bool {
    if source.isBroken { return true }
    let place = position
    let isHeld = place >= start.load(ordering: .relaxed) && place <= end.load(ordering: .relaxed)
    let next = isHeld ? end.load(ordering: .relaxed) : place
    if source.isWaiting(forReadAt: next) { return true }
    let ready = min(max(0, source.readyByteCount(at: next)), FileBounds.byteCount)
    if let byteCount, next + ready >= byteCount { return true }
    let held = Double(next - place + ready)
    if held >= (seconds ?? 3) * bytesPerSecond { return true }
    guard seconds == nil, let incoming = source.bytesPerSecond else { return false }
    return held >= bytesPerSecond / 2 && incoming >= 1.5 * bytesPerSecond
  }

  /// Makes `offset` lie in what is held, or right behind it. False where the end, or an
  /// interruption, came before it.
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

  /// Appends what the source has; 0 at its end.
  private func fill() throws(FileFailure) -> Int {
    let next = end.load(ordering: .relaxed)
    let used = next - start.load(ordering: .relaxed)
    return try fetch(into: UnsafeMutableRawBufferPointer(rebasing: memory[used...]), at: next)
  }

  /// Fills `room` with what the source has at `next`, the end of what is held; 0 at its end.
  private func fetch(
    into room: UnsafeMutableRawBufferPointer, at next: Int
  ) throws(FileFailure) -> Int {
    // Servers refuse to be asked for what lies behind the end.
    if let byteCount, next >= byteCount { return 0 }
    let count = min(max(0, try source.read(into: room, at: next)), room.count)
    if count == 0, source.isInterrupted || byteCount.map({ next < $0 }) ?? false {
      wasInterrupted = true
    }
    end.store(next + count, ordering: .relaxed)
    guard allowance?.take(count) ?? true else { throw .noSoundWithin(name, next + count) }
    return count
  }
}
