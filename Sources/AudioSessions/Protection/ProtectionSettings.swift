import AudioBasics
import AudioDevices
import RealtimeAudio

/// The protections of a listener while the microphone is played.
///
/// ```swift
/// var settings = ProtectionSettings()
/// settings.limitDBFS = -3
/// settings.limitLookAheadSeconds = 0.005
/// try settings.validate()
/// ```
public struct ProtectionSettings: Sendable, Equatable {
  /// The levels in dBFS that a limiter can have.
  public static var limits: ClosedRange<Double> { -60...0 }
  /// The look-aheads in seconds that a limiter can have.
  public static var lookAheads: ClosedRange<Double> { 0...Limiter.maximumLookAheadSeconds }
  /// The default level of the limiter in dBFS.
  public static var defaultLimitDBFS: Double { -1 }
  /// The default gain of a dimmed output: -20 dB.
  public static var defaultDimGain: Gain { Gain(factor: 0.1) }

  /// The highest level of the output in dBFS, -60 to 0; nil for no limiter.
  public var limitDBFS: Double? = defaultLimitDBFS
  /// The look-ahead of the limiter in seconds, up to 0.1, by which it delays all that is played; 0
  /// for a limiter without delay.
  public var limitLookAheadSeconds = 0.0
  /// Whether a limiter with a look-ahead also limits the true peak, the level between the samples.
  public var limitsTruePeak = false
  /// Whether the microphone is lowered when it howls.
  public var suppressesFeedback = true
  /// The gain of a dimmed output, at most 0 dB.
  public var dimGain = defaultDimGain

  /// Creates settings with a limiter at -1 dBFS and a feedback suppressor.
  public init() {}

  /// Throws `.invalidRequest` if a value is out of its range.
  public func validate() throws(DeviceFailure) {
    if let limitDBFS, !Self.limits.contains(limitDBFS) {
      throw Self.invalid(
        "limitDBFS must be \(Self.limits.boundsText) dBFS, or nil: \(limitDBFS) is not.")
    }
    guard Self.lookAheads.contains(limitLookAheadSeconds) else {
      let range = Self.lookAheads.boundsText
      throw Self.invalid(
        "limitLookAheadSeconds must be \(range): \(limitLookAheadSeconds) is not.")
    }
    guard dimGain.factor <= 1 else {
      throw Self.invalid("dimGain must be 0 dB or less: \(dimGain) is not.")
    }
  }

  private static func invalid(_ sentence: String) -> DeviceFailure {
    DeviceFailure(.invalidRequest, sentence, hint: "Choose a value within that range.")
  }

  /// Returns the limiter for a unit with this configuration; nil if there is none.
  func makeLimiter(_ configuration: DuplexConfiguration) -> Limiter? {
    guard let limit = limitDBFS.map({ Gain(decibels: $0).factor }) else { return nil }
    let rate = configuration.sampleRate
    guard limitLookAheadSeconds > 0 else { return Limiter(limit: limit, sampleRate: rate) }
    return Limiter(
      limit: limit, sampleRate: rate, channelCount: configuration.playback?.channelCount ?? 1,
      lookAheadSeconds: limitLookAheadSeconds, limitsTruePeak: limitsTruePeak)
  }
}

/// The counters and events of a mixer's protection, and the control of its dim. For one thread,
/// which is not the audio thread.
public struct ProtectionView: ~Copyable {
  private var dimRequest: PublishedFlag
  private let limited: PublishedValueView
  private let ducks: PublishedValueView
  private var events: FeedbackEventReader?
  /// The number of frames by which the limiter delays all that is played: 0 without a look-ahead.
  public let delayFrames: Int
  /// The number of frames before the end at which the microphone begins to fade out; a session
  /// needs as many frames to end.
  public let fadeFrames: Int

  init(
    dimRequest: consuming PublishedFlag, limitedFrames: consuming PublishedValueView,
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

  /// The number of input frames above the limit so far.
  public var limitedFrames: Int { limited.value }

  /// The number of howls so far.
  public var duckCount: Int { ducks.value }

  /// Returns the oldest event of the feedback suppressor not returned yet; nil if there is none.
  public mutating func nextEvent() -> FeedbackEvent? { events?.next() }

  /// Dims the output, or ends the dim.
  public mutating func setDimmed(_ isDimmed: Bool) { dimRequest.publish(isDimmed) }
}
