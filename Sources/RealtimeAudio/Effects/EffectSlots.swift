import Synchronization

/// The identifier of an inserted effect, with which it can be removed.
public struct EffectID: Hashable, Sendable {
  private static let last = Atomic<Int>(0)

  private let number: Int

  init() {
    number = Self.last.wrappingAdd(1, ordering: .relaxed).newValue
  }
}

extension EffectInsert {
  /// Removes the effect for which `append` returned `id`; returns false if it is not in the insert.
  /// Any thread except the audio thread, also while audio runs. Waits until the cycle that runs the
  /// effect has ended, and then frees it. An effect that has not returned after 2 s is never freed.
  @discardableResult
  public borrowing func remove(_ id: EffectID) -> Bool {
    let slots = slots.pointer
    return slots.pointee.owned.withLock { owned in
      guard let index = owned.effects.firstIndex(where: { $0.id == id }) else { return false }
      var others = owned.effects
      others.remove(at: index)
      slots.pointee.replace(&owned.effects, by: others)
      return true
    }
  }

  /// Removes all effects in the way that `remove` does.
  public borrowing func removeAll() {
    let slots = slots.pointer
    slots.pointee.owned.withLock { slots.pointee.replace(&$0.effects, by: []) }
  }
}

/// The state that the owners of an insert share: the effects, and their addresses for the audio
/// thread.
struct EffectSlots: ~Copyable {
  struct OwnerState {
    var effects: [EffectHolder] = []
    var format: EffectFormat?
  }

  let owned = MutexBox(OwnerState())
  /// Two lists of addresses, one after the other: while the audio thread runs one, the other one
  /// can be written.
  let addresses = UnsafeMutablePointer<UnsafeMutableRawPointer>.allocate(
    capacity: 2 * EffectInsert.maximumEffects)
  /// The number of effects in the active list, times two, plus the index of the active list (0 or
  /// 1).
  let list = Atomic<Int>(0)
  /// The number of times that effects have begun to run, and the number of times that they have
  /// ended.
  let begunRuns = Atomic<Int>(0)
  let endedRuns = Atomic<Int>(0)
  /// The longest wait for a running effect, in milliseconds.
  private static let maximumWaitMilliseconds = 2000

  init() {}

  deinit { addresses.deallocate() }

  /// Appends `effect` to `effects`, those of the active list. The caller must hold their lock, for
  /// which it may wait up to 2 s while another thread is in `replace`: there are only two lists,
  /// and the one that was replaced can be written again only when the audio thread has left it.
  borrowing func append(_ effect: EffectHolder, to effects: inout [EffectHolder]) {
    write(effect, at: effects.count, of: list.load(ordering: .relaxed) & 1)
    effects.append(effect)
    // Publishes the effect; pairs with the load in `process`.
    list.wrappingAdd(2, ordering: .releasing)
  }

  /// Makes the audio thread run `others` instead of `effects`, which are then freed. If one of them
  /// does not return within 2 s, they are never freed, because its thread may still use them all.
  /// The caller must hold their lock.
  borrowing func replace(_ effects: inout [EffectHolder], by others: [EffectHolder]) {
    let side = 1 - list.load(ordering: .relaxed) & 1
    for (index, effect) in others.enumerated() { write(effect, at: index, of: side) }
    list.store(others.count << 1 | side, ordering: .sequentiallyConsistent)
    var rest = Self.maximumWaitMilliseconds
    while !isIdle, rest > 0 {
      HostClock.pause(milliseconds: 1)
      rest -= 1
    }
    if rest == 0 { for effect in effects { _ = Unmanaged.passRetained(effect) } }
    effects = others
  }

  /// Whether no thread runs effects at this moment, and so none runs those of an earlier list. This
  /// includes a thread that was abandoned with an effect that hangs.
  private var isIdle: Bool {
    let ended = endedRuns.load(ordering: .sequentiallyConsistent)
    return begunRuns.load(ordering: .sequentiallyConsistent) == ended
  }

  private borrowing func write(_ effect: EffectHolder, at index: Int, of side: Int) {
    (addresses + side * EffectInsert.maximumEffects + index)
      .initialize(to: Unmanaged.passUnretained(effect).toOpaque())
  }
}
