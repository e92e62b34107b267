// Audio thread.

import AudioBasics
import RealtimeAudio

/// Protects a listener where a microphone is heard. A feedback suppressor, a mute after lost sound and
/// a fade before the end lower the microphone; a dim and a limiter lower all that is played.
///
/// Each of them costs little and changes no bit as long as it has nothing to do.
public struct MonitorProtection: ~Copyable {
  /// Keeps the output at or below a limit; nil leaves it out.
  public var limiter: Limiter?
  /// Ducks the microphone where it howls; nil leaves it out.
  public var feedbackGuard: FeedbackSuppressor?
  /// What a dimmed output is multiplied by.
  public var dimGain = Gain(factor: 0.1)

  private var dim = SmoothedGain(.unity)
  private var isDimmed = false
  private let dimRequest: CountView
  private var mute = SmoothedGain(.unity)
  private var limitedCount = AtomicCounter()
  private let glideFrames: Int
  private let fadeFrames: Int
  private var isEnding = false

  /// A protection that changes nothing yet. The output is dimmed as long as `dimRequest` is not zero.
  public init(sampleRate: Int, dimRequest: consuming CountView) {
    self.dimRequest = dimRequest
    glideFrames = max(1, sampleRate / 50)
    fadeFrames = Self.fadeFrames(at: sampleRate)
  }

  /// Frames that the microphone takes to fade out before the end: a hundredth of a second.
  @_noLocks
  public static func fadeFrames(at sampleRate: Int) -> Int { max(1, sampleRate / 100) }

  /// The number of frames that came in above the limit, as it grows.
  public borrowing func makeLimitedView() -> CountView { limitedCount.makeView() }

  /// Lowers the microphone where it howls, after lost sound and before the end, to which `framesLeft`
  /// frames are left.
  @_noLocks
  public mutating func processMicrophone(_ bus: inout MixerBus, framesLeft: Int = .max) {
    if bus.time.lostFrames > 0 {
      // What was lost ended in a step: silence now, and back in a fiftieth of a second.
      mute = SmoothedGain(fadingInTo: .unity, frames: glideFrames)
      feedbackGuard?.interrupt()
    }
    if !isEnding && framesLeft <= max(fadeFrames, bus.frames) {
      isEnding = true
      mute.glide(to: .silence, frames: framesLeft)
    }
    if limiter != nil || feedbackGuard != nil {
      bus.peakBound = bus.buffer.peak(frames: bus.frames)
      feedbackGuard?.process(&bus, holding: &limiter)
    }
    mute.process(&bus)
  }

  /// The microphone comes to `gain` now where it can go no higher.
  @_noLocks
  mutating func setFullScale(_ gain: Gain) {
    feedbackGuard?.setFullScale(gain)
  }

  /// Dims and limits all that is heard.
  @_noLocks
  public mutating func processMix(_ bus: inout MixerBus) {
    let isDimWanted = dimRequest.value != 0
    if isDimWanted != isDimmed {
      isDimmed = isDimWanted
      dim.glide(to: isDimWanted ? dimGain : .unity, frames: glideFrames)
    }
    dim.process(&bus)
    if limiter?.isTransparent(to: bus.peakBound) != false { return }
    limiter?.process(&bus.buffer, frames: bus.frames)
    limitedCount.publish(limiter?.limitedFrames ?? 0)
  }
}

/// Keeps samples at or below a limit, without looking ahead and so without delay.
///
/// The gain of a frame is that of its loudest channel, g = limit / peak, at once where it falls,
/// and back to one with g += (1 - g) / (release x rate) where it may rise: a wave is held where its
/// crest was, not cut at every crest. All channels share the gain, so that nothing moves from left
/// to right. Frames below the limit pass as they are, bit for bit, once the gain is back at one.
public struct Limiter: BitwiseCopyable {
  /// The highest magnitude let through.
  public private(set) var limit: Float
  /// Frames so far that came in above the limit.
  public private(set) var limitedFrames = 0
  /// Keeps the gain from rising, for as long as a probe measures what a change of level does.
  public var isHeld = false
  /// The gain of the last frame.
  public private(set) var gain: Float = 1
  private let recovery: Float
  private static var leastStep: Float { @_noLocks get { 0.000_000_12 } }

  /// A limit at `limit`, 1 being full scale. After a peak the gain is two thirds of the way back
  /// after `releaseSeconds`.
  public init(limit: Float, sampleRate: Int, releaseSeconds: Double = 0.1) {
    self.limit = limit
    recovery = Float(1 / max(1, releaseSeconds * Double(sampleRate)))
  }

  /// Lets no more than `limit` through from now on.
  @_noLocks
  public mutating func lower(to limit: Float) {
    self.limit = limit
  }

  /// Whether it would leave frames that reach up to `peak` as they are.
  @_noLocks
  public func isTransparent(to peak: Float) -> Bool {
    peak <= limit && gain == 1
  }

  /// Limits the first `frames` frames.
  @_noLocks
  public mutating func process(_ buffer: inout SampleBuffer, frames: Int) {
    if isTransparent(to: buffer.peak(frames: frames)) { return }
    var frame = 0
    while frame < frames {
      let peak = buffer.peak(ofFrame: frame)
      // Never less than a float can tell, or the last stretch would have no end.
      if !isHeld && gain < 1 { gain = min(1, gain + max((1 - gain) * recovery, Self.leastStep)) }
      if peak > limit { limitedFrames &+= 1 }
      if peak * gain > limit { gain = limit / peak }
      if gain != 1 { buffer.scale(frame: frame, by: gain, within: limit) }
      frame &+= 1
    }
  }
}
