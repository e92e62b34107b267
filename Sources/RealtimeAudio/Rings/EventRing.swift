// Audio thread.

import AudioBasics
import Synchronization

/// Something that happened at a frame of the timeline.
public struct TimelineEvent: BitwiseCopyable, Sendable, Equatable {
  /// What happened.
  public enum Kind: UInt8, BitwiseCopyable, Sendable {
    /// The input lost frames: the device overran, or something stopped it.
    case captureXrun
    /// The output ran dry.
    case playbackXrun
    /// Frames that were captured and found no room to be kept.
    case overflow
    /// The device went away.
    case deviceLost
    /// The device came back: `frames` is how many it was away for.
    case deviceReturned
    /// The device was away to the very end of the run.
    case deviceAbsent
    /// Of two devices the input went away, and the output goes on.
    case captureLost
    /// The input came back: `frames` frames from `frame` on were not captured.
    case captureReturned
    /// The input was away to the very end of the run.
    case captureAbsent
    /// Of two devices the output went away, and the input goes on.
    case playbackLost
    /// The output came back.
    case playbackReturned
    /// The output was away to the very end of the run.
    case playbackAbsent
    /// A secondary output went away, or came back: number `frames` of them.
    case secondaryOutputLost, secondaryOutputReturned
    /// A player goes on here: `frames` is how much of its ring lies before what is heard now.
    case playing
    /// A player passes over frames of its ring, those behind its first `frames`.
    case passed
  }

  /// What happened.
  public var kind: Kind
  /// Where on the timeline it happened, or the gap begins.
  public var frame: Int
  /// How many frames the gap is long; for some kinds another number, as they say.
  public var frames: Int
  /// When, in nanoseconds of the host's clock; 0 where it was not asked for.
  public var nanoseconds: UInt64

  /// An event of `frames` frames at `frame`.
  @_noLocks
  public init(kind: Kind, frame: Int, frames: Int, nanoseconds: UInt64 = 0) {
    self.kind = kind
    self.frame = frame
    self.frames = frames
    self.nanoseconds = nanoseconds
  }
}

/// What the two ends of a ring of events share. The invariants are those of `SampleRing`.
struct EventRing: ~Copyable {
  static let capacity = 256
  let slots: UnsafeMutablePointer<TimelineEvent>
  let written = Atomic<Int>(0)
  let read = Atomic<Int>(0)
  let hasReader = Atomic<Bool>(false)

  init() {
    slots = .allocate(capacity: Self.capacity)
    slots.initialize(
      repeating: TimelineEvent(kind: .overflow, frame: 0, frames: 0), count: Self.capacity)
  }

  deinit {
    slots.deallocate()
  }
}

/// The end of a ring of events that puts them in. One thread; never waits, allocates or locks.
///
/// ```swift
/// var writer = EventWriter()
/// var reader = writer.makeReader()
/// _ = writer.write(TimelineEvent(kind: .captureXrun, frame: 4800, frames: 480))
/// precondition(reader.read()?.frames == 480)
/// ```
public struct EventWriter: ~Copyable, @unchecked Sendable {
  // @unchecked because this is the ring's only writer, and the counters order its memory.
  private let ring = SharedState(EventRing())
  private var position = 0

  /// An empty ring.
  public init() {}

  /// The ring's other end. Ask once: a ring has one reader, and the second ends the program with a
  /// sentence.
  public borrowing func makeReader() -> EventReader {
    requirement(
      !ring.pointer.pointee.hasReader.exchange(true, ordering: .relaxed),
      "A ring has one reader, and it was made already.")
    return EventReader(ring.share())
  }

  /// Puts `event` in, or answers false when 256 wait to be read.
  @_noLocks
  public mutating func write(_ event: TimelineEvent) -> Bool {
    // Acquires the slots that `read` in the reader released.
    let taken = ring.pointer.pointee.read.load(ordering: .acquiring)
    guard position &- taken < EventRing.capacity else { return false }
    ring.pointer.pointee.slots[position % EventRing.capacity] = event
    position &+= 1
    // Publishes the event; pairs with the load in `read`.
    ring.pointer.pointee.written.store(position, ordering: .releasing)
    return true
  }
}

/// The end of a ring of events that takes them out. One thread; never waits.
public struct EventReader: ~Copyable, @unchecked Sendable {
  // @unchecked because this is the ring's only reader, and the counters order its memory.
  private let ring: SharedState<EventRing>
  private var position = 0

  init(_ ring: consuming SharedState<EventRing>) {
    self.ring = ring
  }

  /// The oldest event not read yet.
  @_noLocks
  public mutating func read() -> TimelineEvent? {
    // Acquires the event that `write` released.
    guard position < ring.pointer.pointee.written.load(ordering: .acquiring) else { return nil }
    let event = ring.pointer.pointee.slots[position % EventRing.capacity]
    position &+= 1
    // Hands the slot back; pairs with the load in `write`.
    ring.pointer.pointee.read.store(position, ordering: .releasing)
    return event
  }
}
