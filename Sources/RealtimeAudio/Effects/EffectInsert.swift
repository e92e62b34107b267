// Audio thread.
import AudioBasics
import CRealtime
import Synchronization

/// Effects in the order in which sound passes them. Owns them together with those that share it, and frees them when
/// the last of these goes.
///
/// Made and filled on one thread, then moved to the audio thread with what it is part of. What keeps a share of it can
/// add effects while sound runs, and give another share to the mixer of the next device.
///
/// Design note. The audio thread does not know an effect by type, and reaches it through one C function and an
/// overridden method: two calls whose few lines the compiler cannot prove, as a generic function gives no C function.
/// What it proves is all before them and, where an effect's `process` is marked, all behind them. No call
/// counts a reference.
///
/// ```swift
/// struct Muting: AudioEffect {
///   @_noLocks mutating func process(_ frames: inout EffectFrames) {
///     for sample in 0..<frames.sampleCount { frames[sample] = 0 }
///   }
/// }
///
/// let insert = EffectInsert()
/// insert.append(Muting())
/// precondition(!insert.isEmpty)
/// ```
public struct EffectInsert: ~Copyable, @unchecked Sendable {
  // @unchecked because the slots have a lock, and their count publishes each address.
  /// The most effects that an insert can have.
  public static let mostEffects = 64

  let slots: SharedState<EffectSlots>
  private var format: EffectFormat?

  /// An insert without an effect.
  public init() { slots = SharedState(EffectSlots()) }

  /// An insert with `effect`.
  public init<Effect: AudioEffect & ~Copyable>(_ effect: consuming sending Effect) {
    self.init()
    append(effect)
  }

  private init(sharing slots: consuming SharedState<EffectSlots>) { self.slots = slots }

  /// One more owner of the same effects. Only one of them may run them at a time.
  public borrowing func share() -> EffectInsert { EffectInsert(sharing: slots.share()) }

  /// Adds `effect` behind those that are there: at most `mostEffects`. On any thread but the audio thread, also while
  /// sound runs; it is heard from the next cycle on.
  public borrowing func append<Effect: AudioEffect & ~Copyable>(
    _ effect: consuming sending Effect
  ) {
    let holder = TypedEffectHolder(effect)
    let slots = slots.pointer
    slots.pointee.owned.withLock { owned in
      let count = owned.effects.count
      requirement(count < Self.mostEffects, "An EffectInsert has at most 64 effects.")
      if let format = owned.format { holder.prepare(format) }
      owned.effects.append(holder)
      (slots.pointee.addresses + count).initialize(to: Unmanaged.passUnretained(holder).toOpaque())
      // Publishes the effect; pairs with the load in `process`.
      slots.pointee.count.store(count + 1, ordering: .releasing)
    }
  }

  /// Takes all effects away. Not while sound runs.
  public borrowing func removeAll() {
    slots.pointer.pointee.count.store(0, ordering: .releasing)
    slots.pointer.pointee.owned.withLock { $0.effects = [] }
  }

  /// Whether there is no effect in it.
  public var isEmpty: Bool {
    @_noLocks get { slots.pointer.pointee.count.load(ordering: .relaxed) == 0 }
  }

  /// Prepares all effects for sound of `format`, those added later too. Before the first cycle, and where a device
  /// of another format takes over. Not during a cycle: effects may allocate.
  public mutating func prepare(_ format: EffectFormat) {
    self.format = format
    RealtimeMath.bind()
    slots.pointer.pointee.owned.withLock { owned in
      owned.format = format
      for effect in owned.effects { effect.prepare(format) }
    }
  }

  /// Runs all effects on the first `frames` frames of `buffer`, which begin at `startFrame` of the timeline after
  /// a gap of `lostFrames`. On the audio thread.
  @_noLocks
  public mutating func process(
    _ buffer: inout SampleBuffer, frames: Int, startFrame: Int = 0, lostFrames: Int = 0
  ) {
    // Acquires the effects that `append` released.
    let count = slots.pointer.pointee.count.load(ordering: .acquiring)
    guard count > 0 else { return }
    guard let format else {
      requirementFailed("EffectInsert.prepare must be called before the effects run.")
    }
    requirement(
      buffer.channelCount == format.channelCount,
      "The number of channels must be the one that the effects were prepared for.")
    requirement(
      frames >= 0 && frames <= format.maximumFrames && frames <= buffer.frameCount,
      "There are more frames than the effects were prepared for.")
    var call = EffectCall(
      base: buffer.base, count: frames, channelCount: format.channelCount,
      sampleRate: format.sampleRate, startFrame: startFrame, lostFrames: lostFrames)
    let addresses = slots.pointer.pointee.addresses
    var index = 0
    while index < count {
      realtime_call(runEffect, addresses[index], &call, addresses[index])
      index &+= 1
    }
  }
}

/// What the owners of an insert share: the effects, and where the audio thread finds them.
struct EffectSlots: ~Copyable {
  struct Owned {
    var effects: [EffectHolder] = []
    var format: EffectFormat?
  }

  let owned = MutexBox(Owned())
  let addresses = UnsafeMutablePointer<UnsafeMutableRawPointer>.allocate(
    capacity: EffectInsert.mostEffects)
  let count = Atomic<Int>(0)

  init() {}

  deinit { addresses.deallocate() }
}

/// Runs the effect in the holder at this address. A C function, so that what is proven may call it.
private func runEffect(
  _ holder: UnsafeMutableRawPointer, call: UnsafeRawPointer, unused: UnsafeMutableRawPointer
) {
  var frames = EffectFrames(call.assumingMemoryBound(to: EffectCall.self).pointee)
  Unmanaged<EffectHolder>.fromOpaque(holder)._withUnsafeGuaranteedRef { $0.run(&frames) }
}

/// An effect of a type that is not known.
class EffectHolder {
  func prepare(_ format: EffectFormat) {}
  func run(_ frames: inout EffectFrames) {}
}

/// An effect of a type that is known.
private final class TypedEffectHolder<Effect: AudioEffect & ~Copyable>: EffectHolder {
  // Unchecked because the insert that owns it has one owner.
  @exclusivity(unchecked) private var effect: Effect

  init(_ effect: consuming Effect) { self.effect = effect }

  override func prepare(_ format: EffectFormat) { effect.prepare(format) }

  override func run(_ frames: inout EffectFrames) { effect.process(&frames) }
}
