// Audio thread.
import AudioBasics
import CVectors
import Synchronization

/// Frames on their way from one thread to another: what the two ends of a ring share.
///
/// - `written` and `read` count frames since the start and never go back.
/// - `read <= written <= read + capacity`.
/// - Only the writer stores `written`, `skipStart` and `skipEnd`, only the reader stores `read`.
/// - Once `read` has come to `skipStart`, and is not yet at `skipEnd`, it goes on at `skipEnd`.
struct SampleRing: ~Copyable {
  /// The frames, one after the other; of 16 bits two samples in the place of one.
  let samples: SampleBuffer
  let frameCount: Int
  let channelCount: Int
  let isSixteenBit: Bool
  let written = Atomic<Int>(0)
  // The ends run on two cores: a cache line each.
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
      frameCount: isSixteenBit ? (self.frameCount + 1) / 2 : self.frameCount,
      channelCount: self.channelCount)
  }

  /// Puts `frames` frames from `source` on in the places from `slot` on.
  @_noLocks
  func store(_ source: UnsafePointer<Float>, at slot: Int, frames: Int) {
    let (first, count) = (slot &* channelCount, frames &* channelCount)
    if isSixteenBit {
      let words = UnsafeMutableRawPointer(samples.base).assumingMemoryBound(to: Int16.self)
      SixteenBitSamples.encode(source, into: words + first, count: count)
    } else {
      vectors_copy(samples.base + first, source, count)
    }
  }

  /// Copies `frames` frames from the places from `slot` on to `target`.
  @_noLocks
  func load(_ target: UnsafeMutablePointer<Float>, from slot: Int, frames: Int) {
    let (first, count) = (slot &* channelCount, frames &* channelCount)
    if isSixteenBit {
      let words = UnsafeRawPointer(samples.base).assumingMemoryBound(to: Int16.self)
      SixteenBitSamples.decode(words + first, into: target, count: count)
    } else {
      vectors_copy(target, samples.base + first, count)
    }
  }
}

/// The end of a ring that puts frames in. One thread; never waits, allocates or locks.
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
  /// Samples in a frame.
  public let channelCount: Int
  private var position = 0
  private var slot = 0

  /// A ring of `frameCount` frames, empty. One that `isSixteenBit` takes half the memory: samples
  /// that are not a multiple of 2^-15 within [-1, 1) become the nearest that is.
  public init(frameCount: Int, channelCount: Int, isSixteenBit: Bool = false) {
    ring = SharedState(
      SampleRing(frameCount: frameCount, channelCount: channelCount, isSixteenBit: isSixteenBit))
    capacity = ring.pointer.pointee.frameCount
    self.channelCount = ring.pointer.pointee.channelCount
  }

  /// The ring's other end. Ask once: a ring has one reader, and the second ends the program with a
  /// sentence.
  public borrowing func makeReader() -> SampleReader {
    requirement(
      !ring.pointer.pointee.hasReader.exchange(true, ordering: .relaxed),
      "A ring has one reader, and it was made already.")
    return SampleReader(ring.share())
  }

  /// Frames that fit now.
  public var room: Int {
    // Acquires the slots that `read` in the reader released.
    @_noLocks get {
      capacity &- (position &- ring.pointer.pointee.read.load(ordering: .acquiring))
    }
  }

  /// Frames written since the start.
  public var frameCount: Int {
    @_noLocks get { position }
  }

  /// Puts in as many of `frames` frames of `buffer`, from `firstFrame` on, as fit now; returns how
  /// many.
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

  /// Says that nothing more will come.
  @_noLocks
  public mutating func finish() {
    // Pairs with the load in `isFinished`.
    ring.pointer.pointee.finished.store(true, ordering: .releasing)
  }

  /// Takes back that nothing more will come, as far as the reader has not yet acted on it.
  @_noLocks
  public mutating func resume() {
    // Pairs with the load in `isFinished`.
    ring.pointer.pointee.finished.store(false, ordering: .releasing)
  }

  /// The frame that the reader takes next, counted since the start; it may be further already.
  public var readFrame: Int {
    // Acquires the slots that `read` in the reader released.
    @_noLocks get { ring.pointer.pointee.read.load(ordering: .acquiring) }
  }

  /// Frames that wait to be taken, without those that `replace` took out.
  public var queuedFrames: Int {
    @_noLocks get {
      position &- max(readFrame, ring.pointer.pointee.skipEnd.load(ordering: .relaxed))
    }
  }

  /// Where what is not wanted begins, and what takes its place, while the reader has still to go
  /// over it; nil otherwise.
  public var replacement: (skipStart: Int, skipEnd: Int)? {
    @_noLocks get {
      let skipEnd = ring.pointer.pointee.skipEnd.load(ordering: .relaxed)
      guard readFrame < skipEnd else { return nil }
      return (ring.pointer.pointee.skipStart.load(ordering: .relaxed), skipEnd)
    }
  }

  /// What is queued from `frame` on is not wanted any more: once the reader comes there, or at once
  /// where it is there already, it goes on with what is written after this call. While a
  /// `replacement` is on its way, another may only begin at the same frame, or before.
  @_noLocks
  public mutating func replace(from frame: Int) {
    ring.pointer.pointee.skipStart.store(frame, ordering: .relaxed)
    // Publishes `skipStart`; pairs with the load in `read`.
    ring.pointer.pointee.skipEnd.store(position, ordering: .releasing)
  }
}

/// The end of a ring that takes frames out. One thread; never waits, allocates or locks.
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

  /// Frames queued now.
  public var available: Int {
    // Acquires the samples that `write` in the writer released.
    @_noLocks get { ring.pointer.pointee.written.load(ordering: .acquiring) &- position }
  }

  /// Whether the writer has put in its last frame. Read this before `available`: what is queued
  /// after it is true is all there will be.
  public var isFinished: Bool {
    // Acquires what `finish` in the writer released.
    @_noLocks get { ring.pointer.pointee.finished.load(ordering: .acquiring) }
  }

  /// Frames taken out since the start.
  public var frameCount: Int {
    @_noLocks get { position }
  }

  /// Goes over what the writer took out, where it begins here: what `read` does before all else.
  @_noLocks
  public mutating func passReplaced() { _ = followReplacement() }

  /// Goes over what the writer took out, where it begins here; returns how many frames lie before
  /// the place where something else is taken out.
  @_noLocks
  private mutating func followReplacement() -> Int {
    // Acquires `skipStart`, which `replace` in the writer released.
    let skipEnd = ring.pointer.pointee.skipEnd.load(ordering: .acquiring)
    guard position < skipEnd else { return .max }
    let skipStart = ring.pointer.pointee.skipStart.load(ordering: .relaxed)
    guard position >= skipStart else { return skipStart &- position }
    position = skipEnd
    slot = skipEnd % capacity
    // Hands the slots back; pairs with the load in `room`.
    ring.pointer.pointee.read.store(position, ordering: .releasing)
    return .max
  }

  /// Whether samples of 16 bits are stored.
  package var isSixteenBit: Bool {
    @_noLocks get { ring.pointer.pointee.isSixteenBit }
  }

  /// The ring's memory, in which the frames of a `piece` lie; not of a ring that `isSixteenBit`.
  package var samples: SampleBuffer { _read { yield ring.pointer.pointee.samples } }

  /// Where in `samples` the oldest queued frames lie: at most `frames`, and as many as lie in one
  /// piece. They stay queued until `skip` hands them back.
  @_noLocks
  package mutating func piece(atMost frames: Int) -> Range<Int> {
    let rest = followReplacement()
    let count = max(0, min(min(frames, capacity &- slot), min(available, rest)))
    return slot..<slot &+ count
  }

  /// The samples of a `piece` of a ring that `isSixteenBit`, in this machine's order of bytes. Not
  /// for the audio thread.
  @_noLocks @_lifetime(borrow self)
  package borrowing func words(of piece: Range<Int>) -> Span<Int16> {
    requirement(
      isSixteenBit && piece.lowerBound >= 0 && piece.upperBound <= capacity,
      "The piece is not one of a ring of 16 bits.")
    let words = UnsafeRawPointer(ring.pointer.pointee.samples.base)
      .assumingMemoryBound(to: Int16.self)
    return _overrideLifetime(
      Span(
        _unsafeStart: words + piece.lowerBound &* channelCount,
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

  /// Hands back the first `frames` frames of a `piece`.
  @_noLocks
  package mutating func skip(_ frames: Int) {
    requirement(
      frames >= 0 && frames <= capacity &- slot,
      "The ring has fewer contiguous frames than were asked for.")
    position &+= frames
    slot = slot &+ frames == capacity ? 0 : slot &+ frames
    // Hands the slots back; pairs with the load in `room`.
    ring.pointer.pointee.read.store(position, ordering: .releasing)
  }

  /// Fills as many of `frames` frames of `buffer`, from `firstFrame` on, as are queued; returns
  /// how many. Ends where something was taken out: what follows comes with the next call.
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
    // Hands the slots back; pairs with the load in `room`.
    ring.pointer.pointee.read.store(position, ordering: .releasing)
    return count
  }
}
