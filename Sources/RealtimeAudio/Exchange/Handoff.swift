import AudioBasics
import Synchronization

/// The memory shared by the two ends of a handoff: the address of at most one value in transit to
/// the audio thread, and of at most one in transit back.
///
/// The addresses are untyped, because Swift 6.3.1 cannot prove a generic function over move-only
/// values safe for the audio thread.
@usableFromInline
struct HandoffCells: ~Copyable {
  let toAudioThread = Atomic<UnsafeMutableRawPointer?>(nil)
  let fromAudioThread = Atomic<UnsafeMutableRawPointer?>(nil)
  /// Destroys a value that was not fetched.
  let destroy: (UnsafeMutableRawPointer) -> Void

  deinit {
    for cell in [
      toAudioThread.load(ordering: .acquiring), fromAudioThread.load(ordering: .acquiring),
    ] {
      if let cell { destroy(cell) }
    }
  }
}

/// Replaces a move-only value that the audio thread owns while it runs, such as a recorder or an
/// effect.
///
/// Used by one thread, which is not the audio thread. `send` sends a value, the audio thread
/// fetches it at the beginning of its next cycle (`HandoffReceiver.exchange`), and `takeReplaced`
/// returns the value that it replaced. Only one exchange may be in progress at a time.
///
/// ```swift
/// let handoff = Handoff<SampleBuffer>()
/// var receiver = handoff.makeReceiver()  // goes to the audio thread
/// var current: SampleBuffer? = nil
///
/// handoff.send(SampleBuffer(frameCount: 4800, channelCount: 2))
/// receiver.exchange(&current)  // the audio thread, once a cycle
/// precondition(current?.frameCount == 4800)
///
/// // What it replaced comes back, to be freed where freeing is allowed: here there was none.
/// let replaced = handoff.takeReplaced()
/// precondition(replaced != nil)
/// ```
public struct Handoff<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
  // @unchecked because a value has one owner at each moment, and the cells' order moves it.
  private let cells: SharedState<HandoffCells>

  /// Creates a handoff with no value in transit.
  public init() {
    cells = SharedState(HandoffCells(destroy: { _ = Self.open($0) }))
  }

  /// Creates the audio thread's end. There may be only one at a time.
  public borrowing func makeReceiver() -> HandoffReceiver<Value> {
    HandoffReceiver(HandoffEnd(cells.share()))
  }

  /// Sends `value`; nil removes the current value. The previous exchange must have ended before:
  /// either `takeReplaced` or `takeUndelivered` has returned a value.
  public borrowing func send(_ value: consuming Value?) {
    let cell = UnsafeMutablePointer<Value?>.allocate(capacity: 1)
    cell.initialize(to: value)
    // Publishes the value; pairs with the load in `fetch`.
    let last = cells.pointer.pointee.toAudioThread.exchange(
      UnsafeMutableRawPointer(cell), ordering: .acquiringAndReleasing)
    requirement(last == nil, "A handoff takes one value at a time.")
  }

  /// Returns the value that the last exchange replaced; nil if the exchange has not happened yet.
  public borrowing func takeReplaced() -> Replaced? {
    // Acquires what `returnReplaced` released.
    cells.pointer.pointee.fromAudioThread.exchange(nil, ordering: .acquiringAndReleasing)
      .map { Replaced(value: Self.open($0)) }
  }

  /// Takes back a value that the audio thread did not fetch before it ended; nil if there is none.
  public borrowing func takeUndelivered() -> Replaced? {
    cells.pointer.pointee.toAudioThread.exchange(nil, ordering: .acquiringAndReleasing)
      .map { Replaced(value: Self.open($0)) }
  }

  /// A value that came back from the audio thread.
  public struct Replaced: ~Copyable {
    /// The value; nil if there was none.
    public var value: Value?
  }

  private static func open(_ cell: UnsafeMutableRawPointer) -> Value? {
    let typed = cell.assumingMemoryBound(to: Value?.self)
    let value = typed.move()
    typed.deallocate()
    return value
  }
}
