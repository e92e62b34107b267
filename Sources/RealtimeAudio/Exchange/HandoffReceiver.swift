// Audio thread.

import Synchronization

/// The audio thread's end of a `Handoff`.
public struct HandoffReceiver<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
  // @unchecked because it is the only receiver.
  @usableFromInline let end: HandoffEnd

  init(_ end: consuming HandoffEnd) {
    self.end = end
  }

  /// Replaces `value` by the value that was sent, if any, and sends the old one back. Never waits.
  @inlinable @inline(__always)
  public mutating func exchange(_ value: inout Value?) {
    guard let cell = end.fetch() else { return }
    swap(&cell.assumingMemoryBound(to: Value?.self).pointee, &value)
    end.returnReplaced(cell)
  }
}

/// The receiving end of a handoff, independent of the type of the value.
@usableFromInline
struct HandoffEnd: ~Copyable {
  private let cells: SharedState<HandoffCells>

  init(_ cells: consuming SharedState<HandoffCells>) {
    self.cells = cells
  }

  /// Returns the address of the value that was sent; nil if there is none.
  @usableFromInline @_noLocks
  func fetch() -> UnsafeMutableRawPointer? {
    guard cells.pointer.pointee.toAudioThread.load(ordering: .relaxed) != nil else { return nil }
    // Acquires the value that `send` released.
    return cells.pointer.pointee.toAudioThread.exchange(nil, ordering: .acquiring)
  }

  /// Sends the replaced value back.
  @usableFromInline @_noLocks
  func returnReplaced(_ cell: UnsafeMutableRawPointer) {
    // Releases the replaced value; pairs with `takeReplaced`.
    cells.pointer.pointee.fromAudioThread.store(cell, ordering: .releasing)
  }
}
