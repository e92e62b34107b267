/// What a `VoiceGate` takes for speech, and what it keeps around it.
public struct VoiceSettings: Sendable, Equatable {
  /// Frames a second.
  public var sampleRate: Int
  /// Channels of a frame; speech in any of them counts.
  public var channelCount: Int
  /// The level from which on sound is speech, in dBFS: the RMS within the band of speech, where a
  /// sine at full scale has -3. Nil: as far above the noise as speech rises, wherever that lies.
  public var thresholdDBFS: Double?
  /// What is kept before speech begins.
  public var preRollSeconds = 0.5
  /// How long it must be quiet until a stretch ends.
  public var holdSeconds = 1.0
  /// What is kept after speech has ended.
  public var tailSeconds = 0.5
  /// Sounds shorter than this open nothing.
  public var minimumSeconds = 0.2

  /// The usual settings for a tape of `sampleRate` and `channelCount`.
  public init(sampleRate: Int, channelCount: Int, thresholdDBFS: Double? = nil) {
    self.sampleRate = sampleRate
    self.channelCount = channelCount
    self.thresholdDBFS = thresholdDBFS
  }
}
