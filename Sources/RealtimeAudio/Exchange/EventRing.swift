// Audio thread.

import AudioBasics
import Synchronization

/// The end of a ring of events that puts them in. One thread; never waits, allocates or locks.
///
/// ```swift
/// struct Peak: BitwiseCopyable, Sendable {
///   var frame: Int
///   var level: Float
/// }
/// var writer = EventWriter<Peak>()
/// var reader = writer.makeReader()
/// _ = writer.write(Peak(frame: 4800, level: 0.5))
/// precondition(reader.read()?.frame == 4800)
/// ```
public struct EventWriter<Event: BitwiseCopyable & Sendable>: ~Copyable, @unchecked Sendable {
  // @unchecked because this is the ring's only writer, and the counters order its memory.
  @usableFromInline var end: EventWriterEnd

  /// An empty ring.
  public init() {
    end = EventWriterEnd(EventRing(of: Event.self))
  }

  /// The ring's other end. Ask once: a ring has one reader, and the second ends the program with a
  /// sentence.
  public borrowing func makeReader() -> EventReader<Event> { EventReader(end.makeReader()) }

  /// Puts `event` in, or answers false when 256 wait to be read.
  @inlinable @inline(__always)
  public mutating func write(_ event: Event) -> Bool {
    guard let slot = end.freeSlot else { return false }
    slot.storeBytes(of: event, as: Event.self)
    end.publish()
    return true
  }
}

/// The end of a ring of events that takes them out. One thread; never waits.
public struct EventReader<Event: BitwiseCopyable & Sendable>: ~Copyable, @unchecked Sendable {
  // @unchecked because this is the ring's only reader, and the counters order its memory.
  @usableFromInline var end: EventReaderEnd

  init(_ end: consuming EventReaderEnd) {
    self.end = end
  }

  /// The oldest event not read yet.
  @inlinable @inline(__always)
  public mutating func read() -> Event? {
    guard let slot = end.oldestSlot else { return nil }
    let event = slot.load(as: Event.self)
    end.release()
    return event
  }
}

/// Ring buffer of events that its two ends share, whatever the events are. The invariants are those
/// of `SampleRing`.
struct EventRing: ~Copyable {
  static let capacity = 256
  let written = Atomic<Int>(0)
  let read = Atomic<Int>(0)
  let hasReader = Atomic<Bool>(false)
  private let slots: UnsafeMutableRawPointer
  private let stride: Int

  init<Event: BitwiseCopyable>(of event: Event.Type) {
    stride = MemoryLayout<Event>.stride
    let byteCount = stride * Self.capacity
    slots = .allocate(byteCount: byteCount, alignment: MemoryLayout<Event>.alignment)
    // Touched here, so that the audio thread never waits for its pages.
    slots.initializeMemory(as: UInt8.self, repeating: 0, count: byteCount)
  }

  deinit {
    slots.deallocate()
  }

  /// Where the event with this number lies.
  @_noLocks
  func slot(_ position: Int) -> UnsafeMutableRawPointer {
    slots + position % Self.capacity &* stride
  }
}

/// Writing end of a ring of events, whatever the events are.
@usableFromInline
struct EventWriterEnd: ~Copyable {
  private let ring: SharedState<EventRing>
  private var position = 0

  init(_ ring: consuming EventRing) {
    self.ring = SharedState(ring)
  }

  borrowing func makeReader() -> EventReaderEnd {
    requirement(
      !ring.pointer.pointee.hasReader.exchange(true, ordering: .relaxed),
      "A ring has one reader, and it was made already.")
    return EventReaderEnd(ring.share())
  }

  /// Where the next event goes; nil where there is no room.
  @usableFromInline
  var freeSlot: UnsafeMutableRawPointer? {
    @_noLocks get {
      // Acquires the slots that `release` in the reader released.
      let taken = ring.pointer.pointee.read.load(ordering: .acquiring)
      return position &- taken < EventRing.capacity ? ring.pointer.pointee.slot(position) : nil
    }
  }

  /// Shows the event that was put there.
  @usableFromInline @_noLocks
  mutating func publish() {
    position &+= 1
    // Publishes the event; pairs with the load in `oldestSlot`.
    ring.pointer.pointee.written.store(position, ordering: .releasing)
  }
}

/// Reading end of a ring of events, whatever the events are.
@usableFromInline
struct EventReaderEnd: ~Copyable {
  private let ring: SharedState<EventRing>
  private var position = 0

  init(_ ring: consuming SharedState<EventRing>) {
    self.ring = ring
  }

  /// Where the oldest event lies; nil where none waits.
  @usableFromInline
  var oldestSlot: UnsafeMutableRawPointer? {
    @_noLocks get {
      // Acquires the event that `publish` released.
      position < ring.pointer.pointee.written.load(ordering: .acquiring)
        ? ring.pointer.pointee.slot(position) : nil
    }
  }

  /// Hands the slot back, whose event was copied.
  @usableFromInline @_noLocks
  mutating func release() {
    position &+= 1
    // Pairs with the load in `freeSlot`.
    ring.pointer.pointee.read.store(position, ordering: .releasing)
  }
}
