// Audio thread.

import AudioBasics
import RealtimeAudio

/// Protects a listener where a microphone is played. A feedback suppressor, a mute after lost sound
/// and a fade before the end lower the microphone; a dim and a limiter lower all that is played.
/// Audio thread.
///
/// Each of them costs little and changes no bit as long as it has nothing to do.
public struct MonitorProtection: ~Copyable {
  /// Keeps the output at or below a limit; nil leaves it out.
  public var limiter: Limiter?
  /// Ducks the microphone where it howls; nil leaves it out.
  public var feedbackSuppressor: FeedbackSuppressor?
  /// What a dimmed output is multiplied by.
  public var dimGain = Gain(factor: 0.1)

  private var dim = SmoothedGain(.unity)
  private var isDimmed = false
  private let dimRequest: PublishedValueView
  private var mute = SmoothedGain(.unity)
  private var limitedCount = PublishedValue()
  /// The gain of the limiter's last frame, and whether it holds it.
  private var limiterGain: Float = 1
  private var isLimiterHeld = false
  private let glideFrames: Int
  /// Frames before the end at which the microphone begins to fade out: a hundredth of a second
  /// before the frame that the limiter, as late as it is, plays as the last one.
  let fadeFrames: Int
  /// Frames by which the limiter that it was made with delays all that is played.
  let delayFrames: Int
  private var isEnding = false

  /// A protection of an output of `sampleRate` Hz that changes nothing yet. The output is dimmed as
  /// long as `dimRequest` is not zero.
  public init(
    sampleRate: Int, dimRequest: consuming PublishedValueView, limiter: consuming Limiter? = nil
  ) {
    self.limiter = limiter
    delayFrames = self.limiter?.delayFrames ?? 0
    self.dimRequest = dimRequest
    glideFrames = max(1, sampleRate / 50)
    fadeFrames = max(1, sampleRate / 100) + delayFrames
  }

  /// The number of frames that came in above the limit, as it grows.
  public borrowing func makeLimitedView() -> PublishedValueView { limitedCount.makeView() }

  /// Lowers the microphone where it howls, after lost sound and before the end, to which
  /// `framesLeft` frames are left.
  @_noLocks
  public mutating func processMicrophone(_ bus: inout MixerBus, framesLeft: Int = .max) {
    if bus.time.lostFrames > 0 {
      // What was lost ended in a step: silence now, and back in a fiftieth of a second.
      mute = SmoothedGain(fadingInTo: .unity, frames: glideFrames)
      feedbackSuppressor?.interrupt()
    }
    if !isEnding && framesLeft <= max(fadeFrames, bus.frames) {
      isEnding = true
      mute.glide(to: .silence, frames: max(1, framesLeft &- delayFrames))
    }
    let isHeld = feedbackSuppressor?.process(&bus, limiterGain: limiterGain) == true
    if isHeld || isLimiterHeld {
      isLimiterHeld = isHeld
      limiter?.isHeld = isHeld
    }
    // It only lowers: what bounds the peak still does.
    mute.process(&bus.buffer, frames: bus.frames)
  }

  /// The microphone comes to `gain` now where it can go no higher.
  @_noLocks
  mutating func setFullScale(_ gain: Gain) {
    feedbackSuppressor?.setFullScale(gain)
  }

  /// Dims and limits all that is played.
  @_noLocks
  public mutating func processMix(_ bus: inout MixerBus) {
    let isDimWanted = dimRequest.value != 0
    if isDimWanted != isDimmed {
      isDimmed = isDimWanted
      dim.glide(to: isDimWanted ? dimGain : .unity, frames: glideFrames)
    }
    dim.process(&bus.buffer, frames: bus.frames)
    guard let limited = limiter?.limit(&bus) else {
      limiterGain = 1
      return
    }
    limiterGain = limited.gain
    limitedCount.publish(limited.frames)
  }
}

extension Limiter {
  /// Limits the frames of `bus`. Answers with the gain of the last one and with how many have come
  /// in above the limit so far; with nil where it leaves all of them as they are.
  ///
  /// `mutating` where it only reads, too: what is not would be called on a copy of a limiter that
  /// is optional.
  @_noLocks
  fileprivate mutating func limit(_ bus: inout MixerBus) -> (gain: Float, frames: Int)? {
    if gain == 1 {
      bus.measurePeak()
      if bus.peakBound <= limit { return nil }
    }
    process(&bus.buffer, frames: bus.frames)
    return (gain, limitedFrames)
  }
}
