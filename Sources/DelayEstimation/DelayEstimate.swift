import Glibc

/// One way by which a signal came: directly, or by an echo.
public struct Arrival: Sendable, Equatable {
  /// How late, in frames.
  public var delayFrames: Double
  /// What it was multiplied by; negative where it was turned upside down.
  public var gain: Double

  /// An arrival `delayFrames` late, multiplied by `gain`.
  public init(delayFrames: Double, gain: Double) {
    self.delayFrames = delayFrames
    self.gain = gain
  }
}

/// The estimated delay of a known signal in a recording, and its uncertainty.
public struct DelayEstimate: Sendable {
  /// Why an estimate should not be relied on.
  public enum Doubt: String, Sendable {
    /// The signal barely stands out of the noise.
    case faint
    /// Weighted correlation, plain correlation, phase transform and slope of the phase do not all
    /// say the same.
    case disagreement
    /// Another arrival is about as strong.
    case ambiguous
    /// Something arrived earlier, at least a third as strong: the strongest may be an echo.
    case earlierArrival
    /// Too little of the spectrum came through: an echo may have moved the delay unseen.
    case narrowBand
    /// The delay changes while the signal sounds: two clocks, or frames lost.
    case drifting
  }

  /// The delay in frames: that of the strongest arrival, or of the first where that was asked for.
  public var delayFrames: Double
  /// The same from the slope of the phase over frequency, a second opinion.
  public var phaseSlopeFrames: Double
  /// The delay of the strongest arrival in frames.
  public var strongestFrames: Double
  /// What the signal was multiplied by on its way; negative where it was turned upside down.
  public var gain: Double
  /// Power of the signal over power of the noise while it sounds, within its band, in dB. At most
  /// 200.
  public var signalToNoiseDB: Double
  /// The least standard deviation that any estimate from this recording can have, in frames: the
  /// Cramér-Rao bound for its spectrum and its noise. See `DelayEstimator`.
  public var boundFrames: Double
  /// The standard deviation to be reckoned with, in frames, never 0: the bound, and what a drift
  /// that is not known exactly, an echo too near to be told apart and rounding may add.
  public var deviationFrames = 0.0
  /// How much longer the signal lasts in the recording than in the reference, in parts per million:
  /// the difference of two clocks. 0 where none was found. Where there is one, all delays are those
  /// of the reference's first frame.
  public var driftPPM = 0.0
  /// How far the peak stands out, in standard deviations of what chance would give.
  public var score: Double
  /// Every arrival that was told apart, by time.
  public var arrivals: [Arrival]
  /// Why it should not be relied on; empty where nothing speaks against it.
  public var doubts: [Doubt]
  /// The correlation around `delayFrames`, for pictures: from `curveFirstFrame` on, in steps of
  /// `curveStepFrames`, 1 at a perfect match.
  public var curve: [Float] = []
  /// The delay in frames of the first value of `curve`.
  public var curveFirstFrame = 0.0
  /// Frames from one value of `curve` to the next.
  public var curveStepFrames = 0.0
  /// The response to a single sample, for pictures: a value a frame, from `responseFirstFrame` on.
  public var response: [Float] = []
  /// The delay in frames of the first value of `response`.
  public var responseFirstFrame = 0

  /// The same for a recording that begins `frames` frames earlier.
  public func moved(by frames: Int) -> DelayEstimate {
    var moved = self
    let offset = Double(frames)
    moved.delayFrames += offset
    moved.phaseSlopeFrames += offset
    moved.strongestFrames += offset
    moved.curveFirstFrame += offset
    moved.responseFirstFrame += frames
    for index in moved.arrivals.indices { moved.arrivals[index].delayFrames += offset }
    return moved
  }

  /// Adds a doubt, once.
  mutating func add(_ doubt: Doubt) {
    if !doubts.contains(doubt) { doubts.append(doubt) }
  }

  /// Whether the signal came upside down.
  public var isInverted: Bool { gain < 0 }

  /// Whether something speaks against it.
  public var isDoubtful: Bool { !doubts.isEmpty }

  /// The Cramér-Rao bound for the delay of a known signal of even spectrum in white noise, in
  /// frames: the square root of 3 / (pi^2 N SNR), for `frames` frames of signal and a ratio of
  /// powers `signalToNoise`. (S. M. Kay, "Fundamentals of Statistical Signal Processing: Estimation
  /// Theory", 1993, 3.11, with the mean square bandwidth of a full band.)
  public static func bound(frames: Int, signalToNoise: Double) -> Double {
    (3 / (Double.pi * Double.pi * Double(frames) * signalToNoise)).squareRoot()
  }
}
