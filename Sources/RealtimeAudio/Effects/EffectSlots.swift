import Synchronization

/// Stands for an effect that was inserted, so that it can be taken away again.
public struct EffectID: Hashable, Sendable {
  private static let last = Atomic<Int>(0)

  private let number: Int

  init() {
    number = Self.last.wrappingAdd(1, ordering: .relaxed).newValue
  }
}

extension EffectInsert {
  /// Takes the effect away that `append` has given this name; false where it is not there. On any
  /// thread but the audio thread, also while sound runs: waits until a cycle that runs it now is
  /// over, and then frees it. An effect that has not returned after 2 s is left to its thread.
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

  /// Takes all effects away, as `remove` does.
  public borrowing func removeAll() {
    let slots = slots.pointer
    slots.pointee.owned.withLock { slots.pointee.replace(&$0.effects, by: []) }
  }
}

/// State that the owners of an insert share: the effects, and where the audio thread finds them.
struct EffectSlots: ~Copyable {
  struct Owned {
    var effects: [EffectHolder] = []
    var format: EffectFormat?
  }

  let owned = MutexBox(Owned())
  /// Two lists of addresses, one behind the other: while the audio thread runs one, the other can
  /// be written.
  let addresses = UnsafeMutablePointer<UnsafeMutableRawPointer>.allocate(
    capacity: 2 * EffectInsert.mostEffects)
  /// How many effects are in the list that is run, times two, and which of the two lists it is.
  let list = Atomic<Int>(0)
  /// How often effects have begun to run, and how often they have run to their end.
  let begunRuns = Atomic<Int>(0)
  let endedRuns = Atomic<Int>(0)
  /// How long an effect that runs is waited for, in milliseconds.
  private static let longestRun = 2000

  init() {}

  deinit { addresses.deallocate() }

  /// Adds `effect` behind `effects`, those of the list. With their lock.
  borrowing func append(_ effect: EffectHolder, to effects: inout [EffectHolder]) {
    write(effect, at: effects.count, of: list.load(ordering: .relaxed) & 1)
    effects.append(effect)
    // Publishes the effect; pairs with the load in `process`.
    list.wrappingAdd(2, ordering: .releasing)
  }

  /// Has the audio thread run `others` in place of `effects`, which are freed afterwards; or kept
  /// for good, where one of them does not return: its thread may still use them all. With their
  /// lock.
  borrowing func replace(_ effects: inout [EffectHolder], by others: [EffectHolder]) {
    let side = 1 - list.load(ordering: .relaxed) & 1
    for (index, effect) in others.enumerated() { write(effect, at: index, of: side) }
    list.store(others.count << 1 | side, ordering: .sequentiallyConsistent)
    var rest = Self.longestRun
    while !isIdle, rest > 0 {
      HostClock.pause(milliseconds: 1)
      rest -= 1
    }
    if rest == 0 { for effect in effects { _ = Unmanaged.passRetained(effect) } }
    effects = others
  }

  /// Whether no thread runs effects at this moment, and so none any more those of an earlier list:
  /// not even a thread that was abandoned with an effect that hangs.
  private var isIdle: Bool {
    let ended = endedRuns.load(ordering: .sequentiallyConsistent)
    return begunRuns.load(ordering: .sequentiallyConsistent) == ended
  }

  private borrowing func write(_ effect: EffectHolder, at index: Int, of side: Int) {
    (addresses + side * EffectInsert.mostEffects + index)
      .initialize(to: Unmanaged.passUnretained(effect).toOpaque())
  }
}
