// Audio thread.

import AudioBasics
import RealtimeAudio

/// The protection of a listener while a microphone is played. A feedback suppressor, a mute after
/// lost frames and a fade-out before the end lower the microphone; a dim and a limiter lower all
/// that is played. Audio thread.
///
/// Each of them costs little and changes no bit as long as it has nothing to do.
public struct MonitorProtection: ~Copyable {
  /// The limiter that keeps the output at or below a limit; nil for none.
  public var limiter: Limiter?
  /// The suppressor that ducks the microphone if it howls; nil for none.
  public var feedbackSuppressor: FeedbackSuppressor?
  /// The gain of a dimmed output.
  public var dimGain = ProtectionSettings.defaultDimGain

  private var dim = SmoothedGain(.unity)
  private var isDimmed = false
  private let dimRequest: PublishedFlagView
  private var mute = SmoothedGain(.unity)
  private var limitedCount = PublishedValue()
  /// The gain of the limiter's last frame, and whether the limiter holds its gain.
  private var limiterGain: Float = 1
  private var isLimiterHeld = false
  private let rampFrames: Int
  /// The number of frames before the end at which the microphone begins to fade out: 10 ms before
  /// the last frame that the limiter plays, including the limiter's delay.
  let fadeFrames: Int
  /// The number of frames by which the initial limiter delays all that is played.
  let delayFrames: Int
  private var isEnding = false

  /// Creates a protection of an output of `sampleRate` Hz that changes nothing yet. The output is
  /// dimmed while `dimRequest` is set.
  public init(
    sampleRate: Int, dimRequest: consuming PublishedFlagView, limiter: consuming Limiter? = nil
  ) {
    self.limiter = limiter
    delayFrames = self.limiter?.delayFrames ?? 0
    self.dimRequest = dimRequest
    rampFrames = max(1, sampleRate / 50)
    fadeFrames = max(1, sampleRate / 100) + delayFrames
  }

  /// Returns a view of the current number of input frames above the limit.
  public borrowing func makeLimitedView() -> PublishedValueView { limitedCount.makeView() }

  /// Lowers the microphone if it howls, after lost frames, and before the end, until which
  /// `framesLeft` frames are left.
  @_noLocks
  public mutating func processMicrophone(_ bus: inout MixerBus, framesLeft: Int = .max) {
    if bus.time.lostFrames > 0 {
      // The lost frames left a step in the samples: mute now, and fade in within 20 ms.
      mute = SmoothedGain(fadingInTo: .unity, frames: rampFrames)
      feedbackSuppressor?.interrupt()
    }
    if !isEnding && framesLeft <= max(fadeFrames, bus.frames) {
      isEnding = true
      mute.ramp(to: .silence, frames: max(1, framesLeft &- delayFrames))
    }
    let isHeld = feedbackSuppressor?.process(&bus, limiterGain: limiterGain) == true
    if isHeld || isLimiterHeld {
      isLimiterHeld = isHeld
      limiter?.isHeld = isHeld
    }
    // The mute only lowers the samples, so that the bound of the peak is still valid.
    mute.process(&bus.buffer, frames: bus.frames)
  }

  /// Sets the level that the microphone reaches at its full scale from now on.
  @_noLocks
  mutating func setFullScale(_ gain: Gain) {
    feedbackSuppressor?.setFullScale(gain)
  }

  /// Dims and limits all that is played.
  @_noLocks
  public mutating func processMix(_ bus: inout MixerBus) {
    let isDimWanted = dimRequest.isSet
    if isDimWanted != isDimmed {
      isDimmed = isDimWanted
      dim.ramp(to: isDimWanted ? dimGain : .unity, frames: rampFrames)
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
  /// Limits the frames of `bus`. Returns the gain of the last frame and the number of input frames
  /// above the limit so far; nil if all frames are left unchanged.
  ///
  /// It is `mutating` even for the path that only reads: a nonmutating function would be called on
  /// a copy of an optional limiter.
  @_noLocks
  fileprivate mutating func limit(_ bus: inout MixerBus) -> (gain: Float, frames: Int)? {
    if passesBelowLimit {
      bus.measurePeak()
      if bus.peakBound <= limit { return nil }
    }
    let earlier = silencedSamples
    processAll(&bus.buffer, frames: bus.frames)
    bus.silencedSamples &+= silencedSamples &- earlier
    return (gain, limitedFrames)
  }
}
