import AudioBasics
import AudioDevices
import RealtimeAudio

/// Which protections a mixer has while the microphone is played.
public struct ProtectionSettings: Sendable {
  /// The levels in dBFS at which a limiter can be set.
  public static var limits: ClosedRange<Double> { -60...0 }
  /// The level in dBFS at which it is set unless another one is asked for.
  public static var usualLimitDBFS: Double { -1 }

  /// The highest level of the output in dBFS; nil for no limiter.
  public var limitDBFS: Double? = usualLimitDBFS
  /// Seconds by which the limiter looks ahead, up to 0.1, and delays all that is played; 0 for a
  /// limiter without delay.
  public var limitLookAheadSeconds = 0.0
  /// Whether a limiter that looks ahead limits the true peak, too, the level between the samples.
  public var limitsTruePeak = false
  /// Whether the microphone is lowered when it howls.
  public var suppressesFeedback = true
  /// What a dimmed output is multiplied by.
  public var dimGain = Gain(factor: 0.1)

  /// A limiter at -1 dBFS, and a feedback suppressor.
  public init() {}

  /// The limiter of a unit with this configuration.
  func makeLimiter(_ configuration: DuplexConfiguration) -> Limiter? {
    guard let limit = limitDBFS.map({ Gain(decibels: $0).factor }) else { return nil }
    let rate = configuration.sampleRate
    guard limitLookAheadSeconds > 0 else { return Limiter(limit: limit, sampleRate: rate) }
    return Limiter(
      limit: limit, sampleRate: rate, channelCount: configuration.playback?.channelCount ?? 1,
      lookAheadSeconds: limitLookAheadSeconds, limitsTruePeak: limitsTruePeak)
  }
}

/// Reads the counters and events of a mixer's protection, and dims its output. For one thread,
/// which is not the audio thread.
public struct ProtectionView: ~Copyable {
  private var dimRequest: PublishedValue
  private let limited: PublishedValueView
  private let ducks: PublishedValueView
  private var events: FeedbackEventReader?
  /// Frames by which the limiter delays all that is played: 0 without a look-ahead.
  public let delayFrames: Int
  /// Frames before the end at which the microphone begins to fade out, so that a session needs them
  /// to end in.
  public let fadeFrames: Int

  init(
    dimRequest: consuming PublishedValue, limitedFrames: consuming PublishedValueView,
    ducks: consuming PublishedValueView, events: consuming FeedbackEventReader?, delayFrames: Int,
    fadeFrames: Int
  ) {
    self.delayFrames = delayFrames
    self.fadeFrames = fadeFrames
    self.dimRequest = dimRequest
    limited = limitedFrames
    self.ducks = ducks
    self.events = events
  }

  /// Frames so far that came in above the limit.
  public var limitedFrames: Int { limited.value }

  /// Howls so far.
  public var duckCount: Int { ducks.value }

  /// The oldest event of the feedback suppressor that was not returned yet; nil if there is none.
  public mutating func nextEvent() -> FeedbackEvent? { events?.next() }

  /// Dims the output, or no longer.
  public mutating func setDimmed(_ isDimmed: Bool) { dimRequest.publish(isDimmed ? 1 : 0) }
}
