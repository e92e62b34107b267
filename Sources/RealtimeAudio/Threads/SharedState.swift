import Synchronization

/// State that several owners on different threads share, freed at the end of the last owner.
///
/// Owners are counted explicitly, and only when one is created or destroyed, so that no reference
/// count changes while audio runs. Create and destroy owners off the audio thread.
package struct SharedState<State: ~Copyable>: ~Copyable {
  /// The shared value. Valid during the lifetime of this owner.
  package let pointer: UnsafeMutablePointer<State>
  private let owners: UnsafeMutablePointer<Atomic<Int>>

  /// Creates the first owner.
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

  /// Creates another owner of the same value.
  package borrowing func share() -> SharedState {
    SharedState(sharing: self)
  }

  deinit {
    // Releases this owner's writes to the last owner, which acquires the writes of all owners
    // before it frees the value.
    guard owners.pointee.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 else { return }
    pointer.deinitialize(count: 1)
    pointer.deallocate()
    owners.deinitialize(count: 1)
    owners.deallocate()
  }
}
