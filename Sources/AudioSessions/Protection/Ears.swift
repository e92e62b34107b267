// Audio thread.
import AudioBasics
import RealtimeAudio

/// What stands between a session and the ears of whoever wears the headphones: a guard against
/// feedback, a mute after lost sound and before the end, a dim and a limiter, in this order. The first two lower the
/// microphone only, the others everything.
///
/// Each of them costs little and changes no bit as long as it has nothing to do.
public struct Ears: ~Copyable {
  /// Keeps the output at or below a limit; nil leaves it out.
  public var limiter: Limiter?
  /// Ducks the microphone where it howls; nil leaves it out.
  public var feedbackGuard: FeedbackGuard?
  /// What a dimmed output is multiplied by.
  public var dimGain: Float = 0.1

  private var dim = GlidingGain(1)
  private var isDimmed = false
  private let dimWish: CountView
  private var mute = GlidingGain(1)
  private var limitedCount = CountPublisher()
  private var duckCount = CountPublisher()
  private let glideFrames: Int
  private let fadeFrames: Int
  private var isEnding = false

  /// Ears that change nothing yet. The output is dimmed as long as `dimWish` is not zero.
  public init(sampleRate: Int, dimWish: consuming CountView) {
    self.dimWish = dimWish
    glideFrames = max(1, sampleRate / 50)
    fadeFrames = Self.fadeFrames(at: sampleRate)
  }

  /// Frames that the microphone takes to fade out before the end: a hundredth of a second.
  @_noLocks
  public static func fadeFrames(at sampleRate: Int) -> Int { max(1, sampleRate / 100) }

  /// The number of frames that came in above the limit, as it grows.
  public borrowing func makeLimitedView() -> CountView { limitedCount.makeView() }

  /// The number of howls that were ducked, as it grows.
  public borrowing func makeDuckView() -> CountView { duckCount.makeView() }

  /// A cycle of `frames` frames begins, after so many lost ones. `framesLeft` are left to the end,
  /// before which the microphone fades out.
  @_noLocks
  public mutating func begin(lostFrames: Int, framesLeft: Int = .max, frames: Int = 0) {
    if lostFrames > 0 {
      // What was lost ended in a step: silence now, and back in a fiftieth of a second.
      mute.jump(to: 0)
      mute.glide(to: 1, frames: glideFrames)
      feedbackGuard?.interrupt()
    }
    if !isEnding && framesLeft <= max(fadeFrames, frames) {
      isEnding = true
      mute.glide(to: 0, frames: framesLeft)
    }
    let wish = dimWish.value != 0
    if wish != isDimmed {
      isDimmed = wish
      dim.glide(to: wish ? dimGain : 1, frames: glideFrames)
    }
  }

  /// Hears the microphone's way to the ears; answers how high it reaches.
  @_noLocks
  public mutating func listen(to sound: borrowing SampleBuffer, frames: Int, at frame: Int) -> Float
  {
    guard limiter != nil || feedbackGuard != nil else { return 0 }
    let peak = sound.peak(frames: frames)
    let limiterGain = limiter?.gain ?? 1
    feedbackGuard?.listen(
      to: sound, frames: frames, peak: peak, limiterGain: limiterGain, at: frame)
    return peak
  }

  /// Whether sound that reaches up to `peak` would pass as it is.
  @_noLocks
  public mutating func isTransparent(to peak: Float) -> Bool {
    guard dim.isTransparent && mute.isTransparent else { return false }
    if limiter?.isTransparent(to: peak) == false { return false }
    return feedbackGuard?.isTransparent() != false
  }

  /// What only the microphone's way to the ears goes through.
  @_noLocks
  public mutating func shapeMicrophone(_ sound: inout SampleBuffer, frames: Int) {
    feedbackGuard?.apply(to: &sound, frames: frames)
    if !mute.isTransparent { mute.apply(to: &sound, frames: frames) }
  }

  /// What everything that is heard goes through.
  @_noLocks
  public mutating func shapeOutput(_ sound: inout SampleBuffer, frames: Int) {
    if !dim.isTransparent { dim.apply(to: &sound, frames: frames) }
    feedbackGuard?.steady(&limiter)
    limiter?.apply(to: &sound, frames: frames)
    limitedCount.publish(limiter?.limitedFrames ?? 0)
    feedbackGuard?.publish(to: &duckCount)
  }
}
