// Audio thread.

import AudioBasics
import Synchronization

/// The writing end of a ring of events. One thread; never waits, allocates or locks.
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

  /// Creates an empty ring.
  public init() {
    end = EventWriterEnd(EventRing(of: Event.self))
  }

  /// Creates the reading end of the ring. A ring has one reader: a second call ends the program
  /// with a sentence.
  public borrowing func makeReader() -> EventReader<Event> { EventReader(end.makeReader()) }

  /// Writes `event`; returns false if 256 events wait to be read.
  @inlinable @inline(__always)
  public mutating func write(_ event: Event) -> Bool {
    guard let slot = end.freeSlot else { return false }
    slot.storeBytes(of: event, as: Event.self)
    end.publish()
    return true
  }
}

/// The reading end of a ring of events. One thread; never waits.
public struct EventReader<Event: BitwiseCopyable & Sendable>: ~Copyable, @unchecked Sendable {
  // @unchecked because this is the ring's only reader, and the counters order its memory.
  @usableFromInline var end: EventReaderEnd

  init(_ end: consuming EventReaderEnd) {
    self.end = end
  }

  /// Returns the oldest event that was not read yet; nil if there is none.
  @inlinable @inline(__always)
  public mutating func read() -> Event? {
    guard let slot = end.oldestSlot else { return nil }
    let event = slot.load(as: Event.self)
    end.release()
    return event
  }
}

/// A ring buffer of events that its two ends share, independent of the type of the events. The
/// invariants are those of `SampleRing`.
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
    // Initialised here, so that the audio thread never waits for a page fault.
    slots.initializeMemory(as: UInt8.self, repeating: 0, count: byteCount)
  }

  deinit {
    slots.deallocate()
  }

  /// Returns the address of the event with this number.
  @_noLocks
  func slot(_ position: Int) -> UnsafeMutableRawPointer {
    slots + position % Self.capacity &* stride
  }
}

/// The writing end of a ring of events, independent of the type of the events.
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

  /// The address of the next event to write; nil if the ring is full.
  @usableFromInline
  var freeSlot: UnsafeMutableRawPointer? {
    @_noLocks get {
      // Acquires the slots that `release` in the reader released.
      let taken = ring.pointer.pointee.read.load(ordering: .acquiring)
      return position &- taken < EventRing.capacity ? ring.pointer.pointee.slot(position) : nil
    }
  }

  /// Publishes the event that was written to `freeSlot`.
  @usableFromInline @_noLocks
  mutating func publish() {
    position &+= 1
    // Publishes the event; pairs with the load in `oldestSlot`.
    ring.pointer.pointee.written.store(position, ordering: .releasing)
  }
}

/// The reading end of a ring of events, independent of the type of the events.
@usableFromInline
struct EventReaderEnd: ~Copyable {
  private let ring: SharedState<EventRing>
  private var position = 0

  init(_ ring: consuming SharedState<EventRing>) {
    self.ring = ring
  }

  /// The address of the oldest event; nil if the ring is empty.
  @usableFromInline
  var oldestSlot: UnsafeMutableRawPointer? {
    @_noLocks get {
      // Acquires the event that `publish` released.
      position < ring.pointer.pointee.written.load(ordering: .acquiring)
        ? ring.pointer.pointee.slot(position) : nil
    }
  }

  /// Releases the slot of an event that was copied.
  @usableFromInline @_noLocks
  mutating func release() {
    position &+= 1
    // Pairs with the load in `freeSlot`.
    ring.pointer.pointee.read.store(position, ordering: .releasing)
  }
}
