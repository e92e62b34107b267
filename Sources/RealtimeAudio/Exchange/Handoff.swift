import AudioBasics
import Synchronization

/// Memory that the two ends of a handoff share: the addresses of at most one value on its way to
/// the audio thread, and of at most one on its way back.
///
/// The addresses are untyped, since Swift 6.3.1 proves no generic function over move-only values
/// for the audio thread.
@usableFromInline
struct HandoffCells: ~Copyable {
  let outward = Atomic<UnsafeMutableRawPointer?>(nil)
  let homeward = Atomic<UnsafeMutableRawPointer?>(nil)
  /// Destroys what nobody fetched.
  let destroy: (UnsafeMutableRawPointer) -> Void

  deinit {
    for cell in [outward.load(ordering: .acquiring), homeward.load(ordering: .acquiring)] {
      if let cell { destroy(cell) }
    }
  }
}

/// Replaces a move-only value that the audio thread owns while it runs, such as a recorder or an
/// effect.
///
/// One thread, which is not the audio thread. A value is sent with `send`, taken by the audio
/// thread at the beginning of its next cycle (`HandoffReceiver.exchange`), and what it replaced is
/// returned by `takeReplaced`. One exchange is under way at a time.
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

  /// A handoff with nothing on its way.
  public init() {
    cells = SharedState(HandoffCells(destroy: { _ = Self.open($0) }))
  }

  /// The audio thread's end. One at a time.
  public borrowing func makeReceiver() -> HandoffReceiver<Value> {
    HandoffReceiver(HandoffEnd(cells.share()))
  }

  /// Sends `value`, nil to take away what is there. Not before the last exchange is over:
  /// `takeReplaced` answered, or `takeUndelivered` did.
  public borrowing func send(_ value: consuming Value?) {
    let cell = UnsafeMutablePointer<Value?>.allocate(capacity: 1)
    cell.initialize(to: value)
    // Publishes the value; pairs with the load in `fetch`.
    let last = cells.pointer.pointee.outward.exchange(
      UnsafeMutableRawPointer(cell), ordering: .acquiringAndReleasing)
    requirement(last == nil, "A handoff takes one value at a time.")
  }

  /// What the last value replaced; nil where the exchange has not happened yet.
  public borrowing func takeReplaced() -> Replaced? {
    // Acquires what `giveBack` released.
    cells.pointer.pointee.homeward.exchange(nil, ordering: .acquiringAndReleasing)
      .map { Replaced(value: Self.open($0)) }
  }

  /// Takes back a value that the audio thread has not fetched, after its end; nil where there is
  /// none.
  public borrowing func takeUndelivered() -> Replaced? {
    cells.pointer.pointee.outward.exchange(nil, ordering: .acquiringAndReleasing)
      .map { Replaced(value: Self.open($0)) }
  }

  /// A value that came back from the audio thread.
  public struct Replaced: ~Copyable {
    /// The value; nil where there was none.
    public var value: Value?
  }

  private static func open(_ cell: UnsafeMutableRawPointer) -> Value? {
    let typed = cell.assumingMemoryBound(to: Value?.self)
    let value = typed.move()
    typed.deallocate()
    return value
  }
}
