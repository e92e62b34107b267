import AudioBasics

/// A callback that inspects the frames of a player before they are played, and may alter them.
///
/// To process what is played in realtime, together with the microphone, insert an `AudioEffect` at
/// `InsertPoint.output` instead.
///
/// It is called on the thread that decodes, up to one second before the frames are played: it may
/// allocate and block, as long as it keeps up on average. It also receives frames that a later seek
/// or skip drops, and then those that are played instead.
///
/// ```swift
/// /// Holds back the level of everything that is played.
/// final class HalfAsLoud: PlayerTap {
///   func process(_ buffer: inout SampleBuffer, frames: Int, at frame: Int) {
///     for sample in 0..<frames * buffer.channelCount { buffer[sample] *= 0.5 }
///   }
/// }
/// let player = AudioPlayer()
/// player.tap = HalfAsLoud()
/// ```
public protocol PlayerTap: AnyObject, Sendable {
  /// Processes the first `frames` frames of `buffer`, which have the unit's rate and channels. The
  /// first of them is the player's frame `frame`: it is played when `AudioPlayer.playedFrame`
  /// reaches it.
  func process(_ buffer: inout SampleBuffer, frames: Int, at frame: Int)
}
