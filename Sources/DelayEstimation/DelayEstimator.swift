import AudioSpectra
import Glibc

/// Estimates the delay of a known signal in a recording to a small fraction of a frame. It is
/// independent of devices and files: it reads spans and returns a value. Any thread but the audio
/// thread.
///
/// ## Method
///
/// 1. Whitened correlation, normalized by that of unrelated signals, plain correlation and the
///    phase transform each select a whole frame. The lag at which the recording is most coherent
///    with the reference is refined by a correlation weighted by coherence, or the signal is not
///    found (`ArrivalSearch`, `Coherence`).
/// 2. Delay and the difference of two clocks are searched together, and the reference is stretched
///    by the clock difference (`ClockDrift`). Echoes may look like a drift, or hide one, so the
///    explanation with the higher likelihood is used (`DriftedPlacement`).
/// 3. A least-squares fit places the direct sound and its echoes between frames, on the exact
///    band-limited correlation (`ArrivalFit`), weighted by the remaining noise, within the band in
///    which the signal was received (`SignalBand`). An echo too near for that is detected by its
///    effect on the phase (`HiddenEcho`). A parabola through three points of the peak would have an
///    error of up to 0.115 frame.
/// 4. Weighted correlation, plain correlation, phase transform and the slope of the phase over
///    frequency must agree (`PhaseSlope`, `PhaseResidual`). The estimate has a doubt if they
///    differ, if an echo is about as strong as the direct sound, or if an inseparable echo may have
///    moved the result by more than half a frame.
///
/// ## Accuracy
///
/// No unbiased estimate has a smaller deviation than the Cramér-Rao bound. For a known signal of
/// flat spectrum, N frames long, in white noise at a power ratio SNR it is, in frames,
///
///     sigma >= sqrt(3 / (pi^2 N SNR)) = 0.551 / sqrt(N SNR)
///
/// and for any other spectrum S and noise P over angular frequency w,
///
///     sigma >= 1 / sqrt(2 sum(w^2 |S|^2 / P))
///
/// from which `DelayEstimate.boundFrames` is computed. The bound is valid while N SNR is above
/// about 100. Below that, a correlation has wrong peaks, so no estimate is returned.
///
/// ```swift
/// let probe = ProbeSignal(seed: 7, frames: 2400)
/// let recording = [Float](repeating: 0, count: 100) + probe.samples
/// let estimate = DelayEstimator().estimate(reference: probe.samples.span, in: recording.span)
/// precondition(abs((estimate?.delayFrames ?? 0) - 100) < 0.01)
/// ```
public struct DelayEstimator: Sendable {
  /// The arrival whose delay is estimated.
  public enum Choice: Sendable {
    /// The strongest arrival. On a wire, it is the only one.
    case strongest
    /// The first arrival with at least 0.3 of the strongest gain and six deviations above the
    /// noise. For acoustic paths, where reflections can be louder than the direct sound.
    case first
  }

  /// The arrival whose delay is estimated.
  public var choice = Choice.strongest
  /// Whether the estimate contains `correlation` and `impulseResponse`.
  public var draws = false

  /// Creates an estimator of the strongest arrival.
  public init() {}

  /// Returns the delay of `reference` in `recording`, both starting at the same moment, or nil if
  /// it is not found. Only delays within `lags` frames count. If `lags` is nil, all delays are
  /// searched.
  public func estimate(
    reference: Span<Float>, in recording: Span<Float>, lags: Range<Int>? = nil
  ) -> DelayEstimate? {
    let all = (1 - reference.count)..<max(1, recording.count)
    let range = lags?.clamped(to: all) ?? all
    guard let found = ArrivalSearch(reference: reference, recording: recording, lags: range),
      let excerpt = Excerpt(of: recording, around: found.lag, frames: reference.count),
      let drifted = drifted(reference, in: recording, found, lags: range, excerpt)
    else { return nil }
    var estimate = drifted.placement.estimate
    estimate.driftPPM = 1e6 * drifted.stretch / Double(max(1, reference.count))
    if drifted.stretch != 0 || drifted.isContested
      || DelayJump.exists(reference, in: recording, near: found.lag)
    {
      estimate.add(.drifting)
    }
    // Half of the error of the drift is added to the error of the delay. A drift that does not
    // increase the likelihood of the recording counts as none.
    let drift = drifted.drift?.isSignificant == true ? nil : drifted.drift
    let driftFrames = (drift?.deviation ?? estimate.boundFrames) / 2
    if driftFrames > EstimateThreshold.faintDriftFrames { estimate.add(.faint) }
    estimate.deviationFrames = hypot(estimate.deviationFrames, driftFrames)
    return estimate
  }

  /// Fits the arrivals around `delay`. Returns nil if the signal is not found.
  func place(
    _ reference: Span<Float>, in excerpt: borrowing Excerpt, _ found: ArrivalSearch,
    near delay: Double
  ) -> Placement? {
    let match = Match(
      played: excerpt.transform.spectrum(of: reference), recorded: excerpt.spectrum,
      length: excerpt.transform.length, lags: excerpt.lags, score: found.score)
    let start = excerpt.start
    guard let fit = match.fit(excerpt.transform, choice, near: delay - Double(start)),
      let chosen = match.chosen(from: fit, choice),
      var estimate = conclude(
        match, fit, chosen, excerpt.transform, offset: start, frames: reference.count)
    else { return nil }
    if case .strongest = choice {
      addDoubts(of: found, to: &estimate)
      let isOneOfMany =
        found.secondPeakRatio > EstimateThreshold.similarGain
        || estimate.doubts.contains(.ambiguous)
        || estimate.doubts.contains(.earlierArrival)
      if isOneOfMany, estimate.score < EstimateThreshold.faintScore { return nil }
    }
    let residual = PhaseResidual(fit.fit, of: chosen, power: match.power)
    addDoubts(of: residual, found, to: &estimate)
    let hidden = residual.hiddenEcho
    estimate.delayFrames += hidden.correctionFrames
    let halves = HalfDelays(
      reference, match, fit.fit, of: fit.fit.arrivals[chosen], excerpt.transform)
    if halves.differ(boundFrames: estimate.boundFrames) { estimate.add(.drifting) }
    let power = pow(10, estimate.signalToNoiseDB / 10) * Double(reference.count)
    guard power > EstimateThreshold.minimumPower else { return nil }
    estimate.deviationFrames =
      (estimate.boundFrames * estimate.boundFrames
      + hidden.worstFrames * hidden.worstFrames / 4 + Self.roundingVariance).squareRoot()
    return Placement(
      estimate: estimate, match: match, fit: fit, chosen: chosen,
      likelihood: hidden.likelihood + match.likelihood(of: fit, frames: reference.count))
  }

  /// The variance of a delay in squared frames that rounding to single precision alone causes: an
  /// error of 0.0001 frame.
  private static let roundingVariance = 1e-8

  /// Adds the doubts that follow from other methods, from the next best lag and from an echo within
  /// the width of the peak.
  private func addDoubts(
    of residual: PhaseResidual, _ found: ArrivalSearch, to estimate: inout DelayEstimate
  ) {
    let isUnanimous =
      residual.otherDelays.allSatisfy { abs($0) < EstimateThreshold.wrongFrames }
      && found.otherLags.allSatisfy {
        abs(Double($0) - estimate.strongestFrames) < EstimateThreshold.wrongLagFrames
      }
    if !isUnanimous { estimate.add(.disagreement) }
    if found.margin < EstimateThreshold.ambiguousMargin { estimate.add(.ambiguous) }
    let hidden = residual.hiddenEcho
    if hidden.worstFrames > EstimateThreshold.wrongFrames
      || abs(hidden.correctionFrames) > EstimateThreshold.correctedFrames
    {
      estimate.add(.narrowBand)
    }
  }

  /// Adds the doubts that follow from other matches of the search.
  private func addDoubts(of found: ArrivalSearch, to estimate: inout DelayEstimate) {
    if found.earlierPeakRatio > EstimateThreshold.earlierGain { estimate.add(.earlierArrival) }
    if found.secondPeakRatio > EstimateThreshold.equalGain { estimate.add(.ambiguous) }
    if abs(estimate.delayFrames - Double(found.lag)) > EstimateThreshold.movedFrames {
      estimate.add(.disagreement)
    }
  }

  /// Returns the number of frames before and after a match in which echoes are searched for.
  static func guardFrames(_ referenceFrames: Int) -> Int {
    max(256, min(65536, referenceFrames / 4))
  }

  private func conclude(
    _ match: Match, _ fit: Match.Outcome, _ chosen: Int,
    _ transform: borrowing FourierTransform, offset: Int, frames: Int
  ) -> DelayEstimate? {
    let arrivals = fit.fit.arrivals
    let arrival = arrivals[chosen]
    let strongest = arrivals.max { abs($0.gain) < abs($1.gain) } ?? arrival
    guard arrival.gain != 0, arrival.delayFrames.isFinite else { return nil }
    let slope = PhaseSlope(fit.fit, of: chosen)
    let quality = match.quality(fit, chosen, frames: frames)
    var estimate = DelayEstimate(
      delayFrames: arrival.delayFrames + Double(offset),
      phaseSlopeFrames: slope.delayFrames + Double(offset),
      strongestFrames: strongest.delayFrames + Double(offset), gain: arrival.gain,
      signalToNoiseDB: quality.signalToNoiseDB, boundFrames: quality.boundFrames,
      score: match.score,
      arrivals: arrivals.map {
        Arrival(delayFrames: $0.delayFrames + Double(offset), gain: $0.gain)
      }.sorted { $0.delayFrames < $1.delayFrames }, doubts: [])
    estimate.doubts = doubts(estimate, bend: slope.bendFrames, bandShare: fit.band.share)
    if draws { draw(fit.fit, arrival, transform, offset: offset, into: &estimate) }
    return estimate
  }

  private func doubts(_ estimate: DelayEstimate, bend: Double, bandShare: Double) -> [DelayEstimate
    .Doubt]
  {
    var doubts: [DelayEstimate.Doubt] = []
    let bound = estimate.boundFrames
    if estimate.score < EstimateThreshold.faintScore || bound > EstimateThreshold.faintBoundFrames {
      doubts.append(.faint)
    }
    let difference = abs(estimate.phaseSlopeFrames - estimate.delayFrames)
    let isBent =
      bandShare < EstimateThreshold.partialBandShare
      && abs(bend) > max(EstimateThreshold.bentFrames, EstimateThreshold.bendDeviations * bound)
    if isBent
      || difference > max(EstimateThreshold.equalFrames, EstimateThreshold.deviations * bound)
    {
      doubts.append(.disagreement)
    }
    if bandShare < EstimateThreshold.narrowBandShare { doubts.append(.narrowBand) }
    let strength = abs(estimate.gain)
    for arrival in estimate.arrivals
    where abs(arrival.delayFrames - estimate.delayFrames) > EstimateThreshold.wrongFrames {
      if case .strongest = choice, arrival.delayFrames < estimate.delayFrames,
        abs(arrival.gain) > EstimateThreshold.earlierGain * strength,
        !doubts.contains(.earlierArrival)
      {
        doubts.append(.earlierArrival)
      } else if case .strongest = choice,
        abs(arrival.gain) > EstimateThreshold.equalGain * strength,
        !doubts.contains(.ambiguous)
      {
        doubts.append(.ambiguous)
      }
    }
    return doubts
  }

  /// The step and the reach of the drawn correlation around its peak, in frames.
  private static let drawnStepFrames = 1.0 / 16
  private static let drawnReachFrames = 8.0
  /// The frames of the response that are drawn before the result, and those after it: 85 ms of
  /// reflections at 48 kHz.
  private static let drawnFramesBefore = 512
  private static let drawnFramesAfter = 4096

  /// Stores the correlation a few frames around the result, and the response before and after it.
  private func draw(
    _ fit: ArrivalFit, _ arrival: Arrival, _ transform: borrowing FourierTransform, offset: Int,
    into estimate: inout DelayEstimate
  ) {
    let step = Self.drawnStepFrames
    let reach = Self.drawnReachFrames
    let peak = fit.own.point(at: 0).value * arrival.gain
    let firstLag = arrival.delayFrames - reach
    estimate.correlation = SampledCurve(
      (0...Int(clamping: 2 * reach / step)).map {
        Float(fit.cross.point(at: firstLag + Double($0) * step).value / peak)
      }, firstFrame: firstLag + Double(offset), stepFrames: step)
    var whole = fit
    whole.arrivals = []
    let response = whole.unexplained(transform)
    let middle = Int(rounding: arrival.delayFrames)
    // After the result, at most 512 frames more are drawn than the response has before it.
    let first = max(0, middle - Self.drawnFramesBefore)
    let end = min(
      response.count, middle + Self.drawnFramesAfter, 2 * middle + Self.drawnFramesBefore)
    estimate.impulseResponse = SampledCurve(
      first < end ? Array(response[first..<end]) : [], firstFrame: Double(first + offset))
  }
}
