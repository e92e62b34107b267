// Audio thread.

import AudioBasics

/// Keeps samples at or below a limit, without looking ahead and so without delay.
/// For the audio thread; a value belongs to one thread at a time.
///
/// The gain of a frame is that of its loudest channel, g = limit / peak, at once where it falls,
/// and back to one with g += (1 - g) / (release x rate) where it may rise: a wave is held where its
/// crest was, not cut at every crest. All channels share the gain, so that nothing moves from left
/// to right. Frames below the limit pass as they are, bit for bit, once the gain is back at one.
///
/// ```swift
/// var limiter = Limiter(limit: 0.5, sampleRate: 48000)
/// var buffer = SampleBuffer(frameCount: 64, channelCount: 1)
/// for frame in 0..<64 { buffer[frame] = 2 }
/// limiter.process(&buffer, frames: 64)
/// precondition(buffer[63] <= 0.5 && limiter.limitedFrames == 64)
/// ```
public struct Limiter: BitwiseCopyable {
  /// The highest magnitude let through; may be changed at any time.
  public var limit: Float
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
      // Never less than a float can tell, or the gain would never reach one.
      if !isHeld && gain < 1 { gain = min(1, gain + max((1 - gain) * recovery, Self.leastStep)) }
      if peak > limit { limitedFrames &+= 1 }
      if peak * gain > limit { gain = limit / peak }
      if gain != 1 { buffer.scale(frame: frame, by: gain, within: limit) }
      frame &+= 1
    }
  }
}
