// Audio thread.
import AudioBasics
import CRealtime
import Synchronization

/// Effects in the order in which sound passes them. Owns them together with those that share it,
/// and frees them when the last of these goes.
///
/// Made and filled on one thread, then moved to the audio thread with what it is part of. What
/// keeps a share of it can add effects while sound runs, and give another share to the mixer of the
/// next device.
///
/// Design note. The audio thread does not know an effect by type, and reaches it through one C
/// function and an overridden method: two calls whose few lines the compiler cannot prove, as a
/// generic function gives no C function. What it proves is all before them and, where an effect's
/// `process` is marked, all behind them. No call counts a reference.
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

  /// Adds `effect` behind those that are there: at most `mostEffects`. On any thread but the audio
  /// thread, also while sound runs; it is heard from the next cycle on. `remove` takes away what
  /// the answer stands for.
  @discardableResult
  public borrowing func append<Effect: AudioEffect & ~Copyable>(
    _ effect: consuming sending Effect
  ) -> EffectID {
    let holder = TypedEffectHolder(effect)
    let slots = slots.pointer
    slots.pointee.owned.withLock { owned in
      requirement(
        owned.effects.count < Self.mostEffects, "An EffectInsert has at most 64 effects.")
      if let format = owned.format { holder.prepare(format) }
      slots.pointee.append(holder, to: &owned.effects)
    }
    return holder.id
  }

  /// Whether there is no effect in it.
  public var isEmpty: Bool {
    @_noLocks get { slots.pointer.pointee.list.load(ordering: .relaxed) >> 1 == 0 }
  }

  /// Prepares all effects for sound of `format`, those added later too. Before the first cycle, and
  /// where a device of another format takes over. Not during a cycle: effects may allocate.
  public mutating func prepare(_ format: EffectFormat) {
    self.format = format
    RealtimeMath.bind()
    slots.pointer.pointee.owned.withLock { owned in
      owned.format = format
      for effect in owned.effects { effect.prepare(format) }
    }
  }

  /// Runs all effects on the first `frames` frames of `buffer`, which begin at `startFrame` of the
  /// timeline after a gap of `lostFrames`. On the audio thread.
  @_noLocks
  public mutating func process(
    _ buffer: inout SampleBuffer, frames: Int, startFrame: Int = 0, lostFrames: Int = 0
  ) {
    guard !isEmpty else { return }
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
    // In this order, so that who takes an effect away sees that the list is being run, or this the
    // list without it.
    _ = slots.pointer.pointee.begunRuns.wrappingAdd(1, ordering: .sequentiallyConsistent)
    let list = slots.pointer.pointee.list.load(ordering: .sequentiallyConsistent)
    let addresses = slots.pointer.pointee.addresses + (list & 1) &* Self.mostEffects
    var index = 0
    while index < list >> 1 {
      realtime_call(runEffect, addresses[index], &call, addresses[index])
      index &+= 1
    }
    // Releases the effects that ran; pairs with the load in `replace`.
    _ = slots.pointer.pointee.endedRuns.wrappingAdd(1, ordering: .releasing)
  }
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
  let id = EffectID()
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
