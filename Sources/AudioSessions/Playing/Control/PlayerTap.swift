import AudioBasics

/// Looks at the frames of a player on their way out, and alters them if it likes.
///
/// Called on the thread that decodes, up to a second before the frames are played: it may allocate
/// and wait, as long as it keeps up on average. It also gets frames that a later seek or skip
/// drops, and then those that are played instead.
///
/// ```swift
/// /// Holds back the level of everything that is played.
/// final class HalfAsLoud: PlayerTap {
///   func process(_ buffer: inout SampleBuffer, frames: Int, at frame: Int) {
///     for sample in 0..<frames * buffer.channelCount { buffer[sample] *= 0.5 }
///   }
/// }
/// let player = AudioPlayer()
/// player.insert(HalfAsLoud())
/// ```
public protocol PlayerTap: AnyObject, Sendable {
  /// Gets the first `frames` frames of `buffer`, which have the unit's rate and channels. The first
  /// of them is the player's frame `frame`: it is played when `AudioPlayer.playedFrame` comes to
  /// it.
  func process(_ buffer: inout SampleBuffer, frames: Int, at frame: Int)
}
