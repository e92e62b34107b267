// Audio thread.
import AudioBasics
import CVectors
import Synchronization

/// A ring buffer that transfers frames from one thread to another: the state that both ends share.
///
/// - `written` and `read` count frames since the start and never decrease.
/// - `read <= written <= read + capacity`.
/// - Only the writer stores `written`, `skipStart` and `skipEnd`; only the reader stores `read`.
/// - If `read` has reached `skipStart` but not `skipEnd`, the reader continues at `skipEnd`.
struct SampleRing: ~Copyable {
  /// The frames, one after the other. If samples have 16 bits, two of them share the place of one
  /// float.
  let samples: SampleBuffer
  let frameCount: Int
  let channelCount: Int
  let isSixteenBit: Bool
  let written = Atomic<Int>(0)
  // The two ends run on different cores, so each counter has a cache line of its own.
  private let padding: (Int, Int, Int, Int, Int, Int, Int, Int) = (0, 0, 0, 0, 0, 0, 0, 0)
  let read = Atomic<Int>(0)
  let finished = Atomic<Bool>(false)
  let skipStart = Atomic<Int>(.max)
  let skipEnd = Atomic<Int>(0)
  let hasReader = Atomic<Bool>(false)

  init(frameCount: Int, channelCount: Int, isSixteenBit: Bool) {
    self.frameCount = max(1, frameCount)
    self.channelCount = max(1, channelCount)
    self.isSixteenBit = isSixteenBit
    samples = SampleBuffer(
      frameCount: isSixteenBit ? self.frameCount / 2 + self.frameCount % 2 : self.frameCount,
      channelCount: self.channelCount)
  }

  /// Writes `frames` frames from `source` to the slots from `slot` on.
  @_noLocks
  func store(_ source: UnsafePointer<Float>, at slot: Int, frames: Int) {
    let (first, count) = (slot &* channelCount, frames &* channelCount)
    if isSixteenBit {
      let integers = UnsafeMutableRawPointer(samples.base).assumingMemoryBound(to: Int16.self)
      SixteenBitSamples.encode(source, into: integers + first, count: count)
    } else {
      vectors_copy(samples.base + first, source, count)
    }
  }

  /// Copies `frames` frames from the slots from `slot` on to `target`.
  @_noLocks
  func load(_ target: UnsafeMutablePointer<Float>, from slot: Int, frames: Int) {
    let (first, count) = (slot &* channelCount, frames &* channelCount)
    if isSixteenBit {
      let integers = UnsafeRawPointer(samples.base).assumingMemoryBound(to: Int16.self)
      SixteenBitSamples.decode(integers + first, into: target, count: count)
    } else {
      vectors_copy(target, samples.base + first, count)
    }
  }
}

/// The writing end of a ring. One thread; never waits, allocates or locks.
///
/// ```swift
/// var writer = SampleWriter(frameCount: 256, channelCount: 1)
/// var reader = writer.makeReader()
/// var buffer = SampleBuffer(frameCount: 64, channelCount: 1)
/// precondition(writer.write(buffer, frames: 64) == 64)
/// precondition(reader.read(into: &buffer, frames: 64) == 64)
/// ```
public struct SampleWriter: ~Copyable, @unchecked Sendable {
  // @unchecked because this is the ring's only writer, and the counters order its memory.
  private let ring: SharedState<SampleRing>
  private let capacity: Int
  /// The number of samples in a frame.
  public let channelCount: Int
  private var position = 0
  private var slot = 0

  /// Creates an empty ring of `frameCount` frames. With `isSixteenBit` it needs half the memory,
  /// and each sample is rounded to the nearest multiple of 2^-15 within [-1, 1).
  public init(frameCount: Int, channelCount: Int, isSixteenBit: Bool = false) {
    ring = SharedState(
      SampleRing(frameCount: frameCount, channelCount: channelCount, isSixteenBit: isSixteenBit))
    capacity = ring.pointer.pointee.frameCount
    self.channelCount = ring.pointer.pointee.channelCount
  }

  /// Creates the reading end of the ring. A ring has one reader: a second call ends the program
  /// with a sentence.
  public borrowing func makeReader() -> SampleReader {
    requirement(
      !ring.pointer.pointee.hasReader.exchange(true, ordering: .relaxed),
      "A ring has one reader, and it was made already.")
    return SampleReader(ring.share())
  }

  /// The number of frames that can be written now.
  public var room: Int {
    // Acquires the slots that `read` in the reader released.
    @_noLocks get {
      capacity &- (position &- ring.pointer.pointee.read.load(ordering: .acquiring))
    }
  }

  /// The number of frames written since the start.
  public var frameCount: Int {
    @_noLocks get { position }
  }

  /// Writes as many of `frames` frames of `buffer`, starting at `firstFrame`, as fit now. Returns
  /// the number of frames written.
  @_noLocks
  public mutating func write(
    _ buffer: borrowing SampleBuffer, from firstFrame: Int = 0, frames: Int
  ) -> Int {
    requirement(
      buffer.channelCount == channelCount,
      "The buffer and the ring must have the same number of channels.")
    buffer.requireFrames(from: firstFrame, frames)
    let count = min(frames, room)
    var done = 0
    while done < count {
      let run = min(count &- done, capacity &- slot)
      ring.pointer.pointee.store(
        buffer.base + (firstFrame &+ done) &* channelCount, at: slot, frames: run)
      done &+= run
      slot = slot &+ run == capacity ? 0 : slot &+ run
    }
    position &+= count
    // Publishes the samples written above; pairs with the load in `available`.
    ring.pointer.pointee.written.store(position, ordering: .releasing)
    return count
  }

  /// Announces that no more frames will be written.
  @_noLocks
  public mutating func finish() {
    // Pairs with the load in `isFinished`.
    ring.pointer.pointee.finished.store(true, ordering: .releasing)
  }

  /// Withdraws `finish`, unless the reader has already acted on it.
  @_noLocks
  public mutating func resume() {
    // Pairs with the load in `isFinished`.
    ring.pointer.pointee.finished.store(false, ordering: .releasing)
  }

  /// The next frame that the reader will read, counted since the start. The reader may have
  /// advanced since.
  public var readFrame: Int {
    // Acquires the slots that `read` in the reader released.
    @_noLocks get { ring.pointer.pointee.read.load(ordering: .acquiring) }
  }

  /// The number of frames that wait to be read, without those removed by `replace`.
  public var queuedFrames: Int {
    @_noLocks get {
      position &- max(readFrame, ring.pointer.pointee.skipEnd.load(ordering: .relaxed))
    }
  }

  /// The first frame that the reader will skip, and the frame at which it will continue; nil if the
  /// reader has no frames to skip.
  public var replacement: (skipStart: Int, skipEnd: Int)? {
    @_noLocks get {
      let skipEnd = ring.pointer.pointee.skipEnd.load(ordering: .relaxed)
      guard readFrame < skipEnd else { return nil }
      return (ring.pointer.pointee.skipStart.load(ordering: .relaxed), skipEnd)
    }
  }

  /// Discards the frames queued from `frame` on. As soon as the reader reaches `frame`, or at once
  /// if it has already passed it, it continues with the frames that are written after this call.
  /// While a `replacement` is pending, another one may only begin at the same frame or an earlier
  /// one.
  @_noLocks
  public mutating func replace(from frame: Int) {
    ring.pointer.pointee.skipStart.store(frame, ordering: .relaxed)
    // Publishes `skipStart`; pairs with the load in `read`.
    ring.pointer.pointee.skipEnd.store(position, ordering: .releasing)
  }
}

/// The reading end of a ring. One thread; never waits, allocates or locks.
///
/// ```swift
/// var writer = SampleWriter(frameCount: 256, channelCount: 1)
/// let reader = writer.makeReader()
/// writer.finish()
/// precondition(reader.available == 0 && reader.isFinished)
/// ```
public struct SampleReader: ~Copyable, @unchecked Sendable {
  // @unchecked because this is the ring's only reader, and the counters order its memory.
  private let ring: SharedState<SampleRing>
  private let capacity: Int
  /// Samples in a frame.
  public let channelCount: Int
  private var position = 0
  private var slot = 0

  init(_ ring: consuming SharedState<SampleRing>) {
    capacity = ring.pointer.pointee.frameCount
    channelCount = ring.pointer.pointee.channelCount
    self.ring = ring
  }

  /// The number of frames queued now.
  public var available: Int {
    // Acquires the samples that `write` in the writer released.
    @_noLocks get { ring.pointer.pointee.written.load(ordering: .acquiring) &- position }
  }

  /// Whether the writer has written its last frame. Read this before `available`: if it is true, no
  /// frames will be added to those that `available` then reports.
  public var isFinished: Bool {
    // Acquires what `finish` in the writer released.
    @_noLocks get { ring.pointer.pointee.finished.load(ordering: .acquiring) }
  }

  /// The number of frames read since the start.
  public var frameCount: Int {
    @_noLocks get { position }
  }

  /// Skips the frames that the writer discarded, if they begin at the current position. `read` does
  /// this first.
  @_noLocks
  public mutating func passReplaced() { _ = followReplacement() }

  /// Skips the frames that the writer discarded, if they begin at the current position. Returns the
  /// number of frames before the next discarded frame, `Int.max` if there is none.
  @_noLocks
  private mutating func followReplacement() -> Int {
    // Acquires `skipStart`, which `replace` in the writer released.
    let skipEnd = ring.pointer.pointee.skipEnd.load(ordering: .acquiring)
    guard position < skipEnd else { return .max }
    let skipStart = ring.pointer.pointee.skipStart.load(ordering: .relaxed)
    guard position >= skipStart else { return skipStart &- position }
    position = skipEnd
    slot = skipEnd % capacity
    // Releases the slots; pairs with the load in `room`.
    ring.pointer.pointee.read.store(position, ordering: .releasing)
    return .max
  }

  /// Whether the ring stores 16-bit samples.
  package var isSixteenBit: Bool {
    @_noLocks get { ring.pointer.pointee.isSixteenBit }
  }

  /// The memory of the ring, which contains the frames of a `piece`. Not for a ring that
  /// `isSixteenBit`.
  package var samples: SampleBuffer { _read { yield ring.pointer.pointee.samples } }

  /// Returns the range of the oldest queued frames in `samples`: at most `frames`, and only as many
  /// as are contiguous. They remain queued until `skip` releases them.
  @_noLocks
  package mutating func piece(atMost frames: Int) -> Range<Int> {
    let rest = followReplacement()
    let count = max(0, min(min(frames, capacity &- slot), min(available, rest)))
    return slot..<slot &+ count
  }

  /// Returns the samples of a `piece` of a ring that `isSixteenBit`, in native byte order. Not for
  /// the audio thread.
  @_noLocks @_lifetime(borrow self)
  package borrowing func integers(of piece: Range<Int>) -> Span<Int16> {
    requirement(
      isSixteenBit && piece.lowerBound >= 0 && piece.upperBound <= capacity,
      "The piece is not one of a ring of 16 bits.")
    let integers = UnsafeRawPointer(ring.pointer.pointee.samples.base)
      .assumingMemoryBound(to: Int16.self)
    return _overrideLifetime(
      Span(
        _unsafeStart: integers + piece.lowerBound &* channelCount,
        count: piece.count &* channelCount), borrowing: self)
  }

  /// Copies the frames of a `piece` to the beginning of `buffer`.
  @_noLocks
  package func copy(_ piece: Range<Int>, into buffer: inout SampleBuffer) {
    requirement(
      buffer.channelCount == channelCount,
      "The buffer and the ring must have the same number of channels.")
    requirement(
      piece.lowerBound >= 0 && piece.upperBound <= capacity, "The piece is not one of the ring.")
    buffer.requireFrames(from: 0, piece.count)
    ring.pointer.pointee.load(buffer.base, from: piece.lowerBound, frames: piece.count)
  }

  /// Releases the first `frames` frames of a `piece` to the writer.
  @_noLocks
  package mutating func skip(_ frames: Int) {
    requirement(
      frames >= 0 && frames <= capacity &- slot,
      "The ring has fewer contiguous frames than were asked for.")
    position &+= frames
    slot = slot &+ frames == capacity ? 0 : slot &+ frames
    // Releases the slots; pairs with the load in `room`.
    ring.pointer.pointee.read.store(position, ordering: .releasing)
  }

  /// Reads as many of `frames` frames as are queued into `buffer`, starting at `firstFrame`.
  /// Returns the number of frames read. Stops before discarded frames: the next call returns the
  /// frames after them.
  @_noLocks
  public mutating func read(
    into buffer: inout SampleBuffer, at firstFrame: Int = 0, frames: Int
  ) -> Int {
    requirement(
      buffer.channelCount == channelCount,
      "The buffer and the ring must have the same number of channels.")
    buffer.requireFrames(from: firstFrame, frames)
    let rest = followReplacement()
    let count = min(frames, min(available, rest))
    var done = 0
    while done < count {
      let run = min(count &- done, capacity &- slot)
      ring.pointer.pointee.load(
        buffer.base + (firstFrame &+ done) &* channelCount, from: slot, frames: run)
      done &+= run
      slot = slot &+ run == capacity ? 0 : slot &+ run
    }
    position &+= count
    // Releases the slots; pairs with the load in `room`.
    ring.pointer.pointee.read.store(position, ordering: .releasing)
    return count
  }
}
