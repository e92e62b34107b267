// Audio thread.
import AudioBasics
import CRealtime
import Synchronization

/// Frames on their way from one thread to another: what the two ends of a ring share.
///
/// - `written` and `read` count frames since the start and never go back.
/// - `read <= written <= read + capacity`.
/// - Only the writer stores `written`, only the reader stores `read`.
struct SampleRing: ~Copyable {
  let samples: SampleBuffer
  let written = Atomic<Int>(0)
  // The ends run on two cores: a cache line each.
  private let padding: (Int, Int, Int, Int, Int, Int, Int, Int) = (0, 0, 0, 0, 0, 0, 0, 0)
  let read = Atomic<Int>(0)
  let finished = Atomic<Bool>(false)

  init(frameCount: Int, channelCount: Int) {
    samples = SampleBuffer(frameCount: max(1, frameCount), channelCount: max(1, channelCount))
  }
}

/// The end of a ring that puts frames in. One thread; never waits, allocates or locks.
public struct SampleWriter: ~Copyable, @unchecked Sendable {
  // @unchecked because this is the ring's only writer, and the counters order its memory.
  private let ring: SharedState<SampleRing>
  private let capacity: Int
  private let channelCount: Int
  private var position = 0
  private var slot = 0

  /// A ring of `frameCount` frames, empty.
  public init(frameCount: Int, channelCount: Int) {
    ring = SharedState(SampleRing(frameCount: frameCount, channelCount: channelCount))
    capacity = ring.pointer.pointee.samples.frameCount
    self.channelCount = ring.pointer.pointee.samples.channelCount
  }

  /// The ring's other end. Ask once: a ring has one reader.
  public borrowing func makeReader() -> SampleReader {
    SampleReader(ring.share())
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
    precondition(buffer.channelCount == channelCount)
    precondition(firstFrame >= 0 && frames >= 0 && firstFrame &+ frames <= buffer.frameCount)
    let count = min(frames, room)
    var done = 0
    while done < count {
      let run = min(count &- done, capacity &- slot)
      let target = ring.pointer.pointee.samples.base + slot &* channelCount
      realtime_copy(
        target, buffer.base + (firstFrame &+ done) &* channelCount, run &* channelCount)
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
}

/// The end of a ring that takes frames out. One thread; never waits, allocates or locks.
public struct SampleReader: ~Copyable, @unchecked Sendable {
  // @unchecked because this is the ring's only reader, and the counters order its memory.
  private let ring: SharedState<SampleRing>
  private let capacity: Int
  private let channelCount: Int
  private var position = 0
  private var slot = 0

  init(_ ring: consuming SharedState<SampleRing>) {
    capacity = ring.pointer.pointee.samples.frameCount
    channelCount = ring.pointer.pointee.samples.channelCount
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

  /// Fills as many of `frames` frames of `buffer`, from `firstFrame` on, as are queued; returns
  /// how many.
  @_noLocks
  public mutating func read(
    into buffer: inout SampleBuffer, at firstFrame: Int = 0, frames: Int
  ) -> Int {
    precondition(buffer.channelCount == channelCount)
    precondition(firstFrame >= 0 && frames >= 0 && firstFrame &+ frames <= buffer.frameCount)
    let count = min(frames, available)
    var done = 0
    while done < count {
      let run = min(count &- done, capacity &- slot)
      let source = ring.pointer.pointee.samples.base + slot &* channelCount
      realtime_copy(
        buffer.base + (firstFrame &+ done) &* channelCount, source, run &* channelCount)
      done &+= run
      slot = slot &+ run == capacity ? 0 : slot &+ run
    }
    position &+= count
    // Hands the slots back; pairs with the load in `room`.
    ring.pointer.pointee.read.store(position, ordering: .releasing)
    return count
  }
}
