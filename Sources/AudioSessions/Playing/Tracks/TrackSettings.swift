import AudioBasics

/// The settings with which a track is played: range, speed, gain, pan and resampler quality.
///
/// ```swift
/// var settings = TrackSettings(gain: Gain(decibels: -6))
/// settings.speed = 0.5
/// settings.range = PlaybackRange(startFrame: 24000, endFrame: 48000, times: 4)
/// let player = AudioPlayer()
/// player.enqueue(path: "song.flac", settings: settings)
/// ```
public struct TrackSettings: Sendable, Equatable {
  /// The range of frames, its direction and the number of repetitions.
  public var range = PlaybackRange()
  /// The playback speed as a factor of 0.25 to 4, which changes the pitch as well. A track at
  /// another speed is refused.
  public var speed = 1.0
  /// The gain of the samples.
  public var gain: Gain = .unity
  /// The balance from -1, left only, to 1, right only: the other side is attenuated. For outputs of
  /// two or more channels. A value beyond the limits counts as the nearest limit, and a value that
  /// is not a number (NaN) as 0.
  public var pan: Float = 0 {
    didSet { pan = pan.isNaN ? 0 : min(max(pan, -1), 1) }
  }
  /// The quality of `BlockRateConverter`, 0 to 10, if the rate is converted.
  public var resamplerQuality = 5

  /// The possible speeds as factors of the original speed.
  public static let speeds = 0.25...4.0

  /// Creates settings for the whole file, once, unchanged.
  public init(
    range: PlaybackRange = PlaybackRange(), gain: Gain = .unity, resamplerQuality: Int = 5
  ) {
    self.range = range
    self.gain = gain
    self.resamplerQuality = resamplerQuality
  }
}
