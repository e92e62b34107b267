// Audio thread.
import AudioBasics
import CRealtime

/// Effects in the order in which sound passes them. Owns them, and frees them when it goes.
///
/// Made and filled on one thread, then moved to the audio thread with what it is part of.
///
/// Design note. The audio thread does not know an effect by type, and reaches it through one C function and an
/// overridden method: two calls whose few lines the compiler cannot prove, as a generic function gives no C function.
/// What it proves is all before them and, where an effect's `process` is marked, all behind them. No call
/// counts a reference.
public struct EffectInsert: ~Copyable, @unchecked Sendable {
  // @unchecked because effects have one owner, which moves with the value.
  private var effects: [EffectHolder] = []
  private var addresses: UnsafeMutablePointer<UnsafeMutableRawPointer>?
  private var count = 0
  private var format: EffectFormat?

  /// An insert without an effect.
  public init() {}

  /// An insert with `effect`.
  public init<Effect: AudioEffect & ~Copyable>(_ effect: consuming sending Effect) {
    append(effect)
  }

  deinit { addresses?.deallocate() }

  /// Adds `effect` behind those that are there. Not while sound runs.
  public mutating func append<Effect: AudioEffect & ~Copyable>(_ effect: consuming sending Effect) {
    let holder = TypedEffectHolder(effect)
    if let format { holder.prepare(format) }
    effects.append(holder)
    addresses?.deallocate()
    let places = UnsafeMutablePointer<UnsafeMutableRawPointer>.allocate(capacity: effects.count)
    for (index, holder) in effects.enumerated() {
      (places + index).initialize(to: Unmanaged.passUnretained(holder).toOpaque())
    }
    addresses = places
    count = effects.count
  }

  /// Whether there is no effect in it.
  public var isEmpty: Bool { @_noLocks get { count == 0 } }

  /// Prepares all effects for sound of `format`, those added later too. Before the first cycle, and where a device
  /// of another format takes over. Not during a cycle: effects may allocate.
  public mutating func prepare(_ format: EffectFormat) {
    self.format = format
    RealtimeMath.bind()
    for effect in effects { effect.prepare(format) }
  }

  /// Runs all effects on the first `frames` frames of `buffer`, which begin at `startFrame` of the timeline after
  /// a gap of `lostFrames`. On the audio thread.
  @_noLocks
  public mutating func process(
    _ buffer: inout SampleBuffer, frames: Int, startFrame: Int = 0, lostFrames: Int = 0
  ) {
    guard let addresses else { return }
    guard let format else { requirementFailed("Effects were run before EffectInsert.prepare.") }
    requirement(
      buffer.channelCount == format.channelCount,
      "Effects got sound of another number of channels than they were prepared for.")
    requirement(
      frames >= 0 && frames <= format.maximumFrames && frames <= buffer.frameCount,
      "Effects got more frames than they were prepared for.")
    var call = EffectCall(
      base: buffer.base, count: frames, channelCount: format.channelCount,
      sampleRate: format.sampleRate, startFrame: startFrame, lostFrames: lostFrames)
    var index = 0
    while index < count {
      realtime_call(runEffect, addresses[index], &call, addresses[index])
      index &+= 1
    }
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
private class EffectHolder {
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
