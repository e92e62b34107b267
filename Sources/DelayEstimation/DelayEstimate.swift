import AudioBasics
import Glibc

/// One path of a signal: the direct sound or an echo.
public struct Arrival: Sendable, Equatable {
  /// The delay in frames.
  public var delayFrames: Double
  /// The gain as a factor, negative if the polarity is inverted.
  public var gain: Double

  /// Creates an arrival with a delay of `delayFrames` and the factor `gain`.
  public init(delayFrames: Double, gain: Double) {
    self.delayFrames = delayFrames
    self.gain = gain
  }
}

/// The estimated delay of a known signal in a recording, and its uncertainty.
public struct DelayEstimate: Sendable {
  /// Reasons why an estimate is unreliable.
  public enum Doubt: String, Sendable {
    /// The signal is barely above the noise.
    case faint
    /// Weighted correlation, plain correlation, phase transform and the slope of the phase
    /// disagree.
    case disagreement
    /// Another arrival is about as strong.
    case ambiguous
    /// An earlier arrival has at least 0.3 of the gain, so the strongest may be an echo.
    case earlierArrival
    /// Too little of the spectrum was received, so an undetected echo may have moved the delay.
    case narrowBand
    /// The delay changes during the signal, because of two clocks or lost frames.
    case drifting
  }

  /// The delay in frames of the strongest arrival, or of the first if `DelayEstimator.choice` says
  /// so.
  public var delayFrames: Double
  /// The delay in frames from the slope of the phase over frequency, as an independent check.
  public var phaseSlopeFrames: Double
  /// The delay of the strongest arrival in frames.
  public var strongestFrames: Double
  /// The gain of the signal path as a factor, negative if the polarity is inverted.
  public var gain: Double
  /// The ratio of the power of the signal to that of the noise during the signal, within its band,
  /// in dB. At most 200.
  public var signalToNoiseDB: Double
  /// The least standard deviation of any unbiased estimate from this recording, in frames: the
  /// Cramér-Rao bound for its spectrum and its noise. See `DelayEstimator`.
  public var boundFrames: Double
  /// The expected standard deviation in frames, never 0. It combines the bound with the possible
  /// errors of an inexact drift, of an echo too near to be separated, and of rounding.
  public var deviationFrames = 0.0
  /// The relative difference between the lengths of the signal in the recording and in the
  /// reference, in parts per million: the difference between two clocks. 0 if none was found. With
  /// a drift, all delays are those of the first frame of the reference.
  public var driftPPM = 0.0
  /// The height of the peak, in standard deviations of the scores of unrelated signals.
  public var score: Double
  /// All separate arrivals, sorted by time.
  public var arrivals: [Arrival]
  /// The reasons why the estimate is unreliable, or empty if there are none.
  public var doubts: [Doubt]
  /// The correlation around `delayFrames`, over the delay. A perfect match is 1.
  public var correlation = SampledCurve()
  /// The impulse response over the delay, one value per frame.
  public var impulseResponse = SampledCurve()

  /// Returns the same estimate for a recording that begins `frames` frames earlier.
  public func moved(by frames: Int) -> DelayEstimate {
    var moved = self
    let offset = Double(frames)
    moved.delayFrames += offset
    moved.phaseSlopeFrames += offset
    moved.strongestFrames += offset
    moved.correlation.firstFrame += offset
    moved.impulseResponse.firstFrame += offset
    for index in moved.arrivals.indices { moved.arrivals[index].delayFrames += offset }
    return moved
  }

  /// Adds a doubt, once.
  mutating func add(_ doubt: Doubt) {
    if !doubts.contains(doubt) { doubts.append(doubt) }
  }

  /// Whether the polarity of the signal is inverted.
  public var isInverted: Bool { gain < 0 }

  /// Whether there is a reason to doubt the estimate.
  public var isDoubtful: Bool { !doubts.isEmpty }

  /// Returns the Cramér-Rao bound for the delay of a known signal of flat spectrum in white noise,
  /// in frames: the square root of 3 / (pi^2 N SNR), for `frames` frames of signal and a power
  /// ratio of `signalToNoise`. (S. M. Kay, "Fundamentals of Statistical Signal Processing:
  /// Estimation Theory", 1993, 3.11, with the mean square bandwidth of a full band.)
  public static func bound(frames: Int, signalToNoise: Double) -> Double {
    (3 / (Double.pi * Double.pi * Double(frames) * signalToNoise)).squareRoot()
  }
}

extension DelayEstimate.Doubt {
  /// The explanation of the doubt, a clause without a full stop.
  public var explanation: String {
    switch self {
    case .faint: "the signal is hardly above the noise"
    case .disagreement: "two methods give different delays: a filter in the path changes the phase"
    case .ambiguous: "an echo is about as strong as the direct sound"
    case .earlierArrival: "a weaker signal arrived earlier"
    case .narrowBand: "too little of the spectrum was received"
    case .drifting: "the delay changed during the measurement: two clocks, or lost frames"
    }
  }
}

extension DelayEstimate {
  /// The values of `correlation`.
  @available(*, deprecated, message: "Use correlation.values.")
  public var curve: [Float] { correlation.values }

  /// The delay in frames of the first value of `correlation`.
  @available(*, deprecated, message: "Use correlation.firstFrame.")
  public var curveFirstFrame: Double { correlation.firstFrame }

  /// The frames from one value of `correlation` to the next.
  @available(*, deprecated, message: "Use correlation.stepFrames.")
  public var curveStepFrames: Double { correlation.stepFrames }

  /// The values of `impulseResponse`.
  @available(*, deprecated, message: "Use impulseResponse.values.")
  public var response: [Float] { impulseResponse.values }

  /// The delay in frames of the first value of `impulseResponse`.
  @available(*, deprecated, message: "Use impulseResponse.firstFrame.")
  public var responseFirstFrame: Int { Int(rounding: impulseResponse.firstFrame) }
}
