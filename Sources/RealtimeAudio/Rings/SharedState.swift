import Synchronization

/// State that two threads own together: freed when the last owner goes.
///
/// Counted by hand, and only where an owner is made or ends, so that no reference count is touched
/// while audio runs. Owners are made and destroyed off the audio thread.
package struct SharedState<State: ~Copyable>: ~Copyable {
  /// The shared value. Valid as long as this owner.
  package let pointer: UnsafeMutablePointer<State>
  private let owners: UnsafeMutablePointer<Atomic<Int>>

  /// Its first owner.
  package init(_ state: consuming State) {
    pointer = .allocate(capacity: 1)
    pointer.initialize(to: state)
    owners = .allocate(capacity: 1)
    owners.initialize(to: Atomic(1))
  }

  private init(sharing other: borrowing SharedState) {
    pointer = other.pointer
    owners = other.owners
    owners.pointee.add(1, ordering: .relaxed)
  }

  /// One more owner of the same value.
  package borrowing func share() -> SharedState {
    SharedState(sharing: self)
  }

  deinit {
    // Releases this owner's writes to the last owner, which acquires all owners' before it frees.
    guard owners.pointee.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 else { return }
    pointer.deinitialize(count: 1)
    pointer.deallocate()
    owners.deinitialize(count: 1)
    owners.deallocate()
  }
}
