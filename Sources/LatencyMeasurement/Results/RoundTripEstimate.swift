import AudioBasics
import DelayEstimation

/// The round trip from one channel of the output to one of the input, estimated from repeated
/// measurements: its value, its uncertainty, and the reasons to doubt it.
///
/// ```swift
/// let engine = DuplexEngine(device: "sim:clock=free,delay=300.5")
/// let roundTrip = try await engine.measureRoundTrip().roundTrip
/// precondition(roundTrip.verdict == .trusted && abs(roundTrip.frames - 812.5) < 0.01)
/// for doubt in roundTrip.doubts { print("Doubtful: \(doubt.explanation).") }
/// ```
public struct RoundTripEstimate: Sendable {
  /// The judgement of an estimate: what it may be used for.
  public enum Verdict: String, Sendable {
    /// There is no reason to doubt it.
    case trusted
    /// The delay drifts, but three or more measurements agree to 30 microseconds, as on a sound
    /// server, whose delay moves by tenths of a frame: it can align a recording.
    case doubtful
    /// It is not reliable enough to align a recording: `objections` has the reasons.
    case refused
  }

  /// The two channels, and the single measurements.
  public let pair: ChannelPair
  /// The sample rate in frames per second.
  public let sampleRate: Int
  /// The statistics of the measurements in frames.
  public let spread: Spread
  /// The reasons to doubt the result, or empty if there are none: those of the single measurements,
  /// and `drifting` if the measurements differ by more than their accuracy explains.
  public let doubts: [DelayEstimate.Doubt]

  /// Judges the measurements of `pair`, at `sampleRate` frames per second; nil if there are none.
  public init?(_ pair: ChannelPair, sampleRate: Int) {
    guard let first = pair.estimates.first,
      let spread = Spread(
        of: pair.frames,
        deviationOfOne: max(first.deviationFrames, abs(first.phaseSlopeFrames - first.delayFrames)))
    else { return nil }
    self.pair = pair
    self.sampleRate = sampleRate
    self.spread = spread
    doubts = Self.doubts(pair.estimates, spread)
  }

  private static func doubts(
    _ estimates: [DelayEstimate], _ spread: Spread
  ) -> [DelayEstimate.Doubt] {
    var doubts: [DelayEstimate.Doubt] = []
    for estimate in estimates {
      for doubt in estimate.doubts where !doubts.contains(doubt) { doubts.append(doubt) }
    }
    let bound = estimates.reduce(0) { max($0, $1.boundFrames) }
    if estimates.count > 1, spread.standardDeviation > max(0.5, 6 * bound),
      !doubts.contains(.drifting)
    {
      doubts.append(.drifting)
    }
    return doubts
  }

  /// The round trip in frames: the median of the measurements.
  public var frames: Double { spread.median }

  /// The round trip in seconds.
  public var seconds: Double { frames / Double(sampleRate) }

  /// The 95 % confidence interval of the mean of the measurements, in frames.
  public var interval95: ClosedRange<Double> { spread.interval95 }

  /// The mean signal-to-noise ratio in dB.
  public var signalToNoiseDB: Double { pair.signalToNoiseDB }

  /// Whether the polarity of the signal is inverted, in most measurements.
  public var isInverted: Bool {
    2 * pair.estimates.count(where: \.isInverted) > pair.estimates.count
  }

  /// The reasons for which the result is not reliable enough to align a recording; empty if it is.
  public var objections: [DelayEstimate.Doubt] {
    Self.objections(doubts, pair.frames, sampleRate: sampleRate)
  }

  /// Returns those of `doubts` for which the measurements `frames`, at `sampleRate` Hz, are not
  /// reliable enough to align a recording.
  package static func objections(
    _ doubts: [DelayEstimate.Doubt], _ frames: [Double], sampleRate: Int
  ) -> [DelayEstimate.Doubt] {
    guard frames.count > 2, let least = frames.min(), let most = frames.max(),
      most - least <= Double(sampleRate) * 30e-6
    else { return doubts }
    return doubts.filter { $0 != .drifting }
  }

  /// The judgement of the result.
  public var verdict: Verdict {
    doubts.isEmpty ? .trusted : objections.isEmpty ? .doubtful : .refused
  }
}
