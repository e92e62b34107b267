// Audio thread.
import AudioBasics
import CRealtime
import Synchronization

/// A chain of effects, which process the audio in order. The effects are owned together with all
/// shares of the insert, and freed at the end of the last share.
///
/// It is created and filled on one thread, then moved to the audio thread with its owner. The
/// holder of a share can add effects while audio runs, and give another share to the mixer of the
/// next device.
///
/// Design note. The audio thread does not know the type of an effect, and calls it through a C
/// function and an overridden method. The compiler cannot prove the few lines of these two calls,
/// because a generic function cannot be a C function. It proves the code before them and, if the
/// effect's `process` is marked, the code after them. No call changes a reference count.
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
  /// The maximum number of effects in an insert.
  public static let maximumEffects = 64

  let slots: SharedState<EffectSlots>
  private var format: EffectFormat?

  /// Creates an insert without effects.
  public init() { slots = SharedState(EffectSlots()) }

  /// Creates an insert with `effect`.
  public init<Effect: AudioEffect & ~Copyable>(_ effect: consuming sending Effect) {
    self.init()
    append(effect)
  }

  private init(sharing slots: consuming SharedState<EffectSlots>) { self.slots = slots }

  /// Creates another owner of the same effects. Only one owner may run them at a time.
  public borrowing func share() -> EffectInsert { EffectInsert(sharing: slots.share()) }

  /// Appends `effect` to the effects of the insert: at most `maximumEffects`. Any thread except the
  /// audio thread, also while audio runs; the effect runs from the next cycle on. Pass the returned
  /// identifier to `remove` to remove the effect.
  ///
  /// Normally returns at once. While another thread removes an effect, it waits until that is done,
  /// which is up to 2 s if the effect does not return: the audio thread reads one of two lists, and
  /// the other one can be changed again only when the cycle that runs it has ended.
  @discardableResult
  public borrowing func append<Effect: AudioEffect & ~Copyable>(
    _ effect: consuming sending Effect
  ) -> EffectID {
    let holder = TypedEffectHolder(effect)
    let slots = slots.pointer
    slots.pointee.owned.withLock { owned in
      requirement(
        owned.effects.count < Self.maximumEffects, "An EffectInsert has at most 64 effects.")
      if let format = owned.format { holder.prepare(format) }
      slots.pointee.append(holder, to: &owned.effects)
    }
    return holder.id
  }

  /// Whether the insert has no effects.
  public var isEmpty: Bool {
    @_noLocks get { slots.pointer.pointee.list.load(ordering: .relaxed) >> 1 == 0 }
  }

  /// Prepares all effects for audio of `format`, including effects added later. Call it before the
  /// first cycle, and if a device with another format takes over. Not during a cycle, because
  /// effects may allocate.
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
    // With this order, a thread that removes an effect sees that the list is running, or this
    // thread sees the list without the effect.
    _ = slots.pointer.pointee.begunRuns.wrappingAdd(1, ordering: .sequentiallyConsistent)
    let list = slots.pointer.pointee.list.load(ordering: .sequentiallyConsistent)
    let addresses = slots.pointer.pointee.addresses + (list & 1) &* Self.maximumEffects
    var index = 0
    while index < list >> 1 {
      realtime_call(runEffect, addresses[index], &call, addresses[index])
      index &+= 1
    }
    // Releases the effects that ran; pairs with the load in `isIdle`.
    _ = slots.pointer.pointee.endedRuns.wrappingAdd(1, ordering: .releasing)
  }
}

/// Runs the effect in the holder at this address. A C function, because proven code may call it.
private func runEffect(
  _ holder: UnsafeMutableRawPointer, call: UnsafeRawPointer, unused: UnsafeMutableRawPointer
) {
  var frames = EffectFrames(call.assumingMemoryBound(to: EffectCall.self).pointee)
  Unmanaged<EffectHolder>.fromOpaque(holder)._withUnsafeGuaranteedRef { $0.run(&frames) }
}

/// The type-erased holder of an effect.
class EffectHolder {
  let id = EffectID()
  func prepare(_ format: EffectFormat) {}
  func run(_ frames: inout EffectFrames) {}
}

/// The holder of an effect of a known type.
private final class TypedEffectHolder<Effect: AudioEffect & ~Copyable>: EffectHolder {
  // Unchecked because the insert that owns it has one owner.
  @exclusivity(unchecked) private var effect: Effect

  init(_ effect: consuming Effect) { self.effect = effect }

  override func prepare(_ format: EffectFormat) { effect.prepare(format) }

  override func run(_ frames: inout EffectFrames) { effect.process(&frames) }
}
