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
    if driftFrames > 0.25 { estimate.add(.faint) }
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
      if found.earlierPeakRatio > 0.3 { estimate.add(.earlierArrival) }
      if found.secondPeakRatio > 0.8 { estimate.add(.ambiguous) }
      // The fitted arrival is at another position than the match found.
      if abs(estimate.delayFrames - Double(found.lag)) > 2 { estimate.add(.disagreement) }
      // A faint match that is one of several is typical of two signals that only resemble each
      // other.
      let isOneOfMany =
        found.secondPeakRatio > 0.7 || estimate.doubts.contains(.ambiguous)
        || estimate.doubts.contains(.earlierArrival)
      if isOneOfMany, estimate.score < 12 { return nil }
    }
    let residual = PhaseResidual(fit.fit, of: chosen, power: match.power)
    let isUnanimous =
      residual.otherDelays.allSatisfy { abs($0) < 0.5 }
      && found.otherLags.allSatisfy { abs(Double($0) - estimate.strongestFrames) < 1.5 }
    if !isUnanimous { estimate.add(.disagreement) }
    if found.margin < 30 { estimate.add(.ambiguous) }
    let hidden = residual.hiddenEcho
    if hidden.worstFrames > 0.5 || abs(hidden.correctionFrames) > 0.05 { estimate.add(.narrowBand) }
    estimate.delayFrames += hidden.correctionFrames
    let halves = HalfDelays(
      reference, match, fit.fit, of: fit.fit.arrivals[chosen], excerpt.transform)
    if abs(halves.difference) > max(0.05, 6 * halves.inflation * estimate.boundFrames) {
      estimate.add(.drifting)
    }
    // The correlation of so faint a signal is not above the noise: the match is only a resemblance.
    let power = pow(10, estimate.signalToNoiseDB / 10) * Double(reference.count)
    guard power > Self.minimumPower else { return nil }
    // Rounding to single precision alone causes an error of 0.0001 frame.
    estimate.deviationFrames =
      (estimate.boundFrames * estimate.boundFrames
      + hidden.worstFrames * hidden.worstFrames / 4 + 1e-8).squareRoot()
    return Placement(
      estimate: estimate, match: match, fit: fit, chosen: chosen,
      likelihood: hidden.likelihood + match.likelihood(of: fit, frames: reference.count))
  }

  /// The least ratio of the power of a signal times its frames to the power of the noise: the
  /// square of the height of its correlation in standard deviations.
  private static let minimumPower = 4.0

  /// Returns the number of frames before and after a match in which echoes are searched for.
  static func guardFrames(_ referenceFrames: Int) -> Int {
    max(256, min(65536, referenceFrames / 4))
  }

  private func conclude(
    _ match: Match, _ fit: Match.Outcome, _ chosen: Int,
    _ transform: borrowing FourierTransform, offset: Int, frames: Int
  ) -> DelayEstimate? {
    let arrivals = fit.fit.arrivals
    let answer = arrivals[chosen]
    let strongest = arrivals.max { abs($0.gain) < abs($1.gain) } ?? answer
    guard answer.gain != 0, answer.delayFrames.isFinite else { return nil }
    let slope = PhaseSlope(fit.fit, of: chosen)
    let quality = match.quality(fit, chosen, frames: frames)
    var estimate = DelayEstimate(
      delayFrames: answer.delayFrames + Double(offset),
      phaseSlopeFrames: slope.delayFrames + Double(offset),
      strongestFrames: strongest.delayFrames + Double(offset), gain: answer.gain,
      signalToNoiseDB: quality.signalToNoiseDB, boundFrames: quality.boundFrames,
      score: match.score,
      arrivals: arrivals.map {
        Arrival(delayFrames: $0.delayFrames + Double(offset), gain: $0.gain)
      }.sorted { $0.delayFrames < $1.delayFrames }, doubts: [])
    estimate.doubts = doubts(estimate, bend: slope.bendFrames, bandShare: fit.band.share)
    if draws { draw(fit.fit, answer, transform, offset: offset, into: &estimate) }
    return estimate
  }

  private func doubts(_ estimate: DelayEstimate, bend: Double, bandShare: Double) -> [DelayEstimate
    .Doubt]
  {
    var doubts: [DelayEstimate.Doubt] = []
    if estimate.score < 12 || estimate.boundFrames > 0.12 { doubts.append(.faint) }
    let difference = abs(estimate.phaseSlopeFrames - estimate.delayFrames)
    // In a partial band, an echo within the width of the peak biases the delay without being
    // separated. It bends the phase, as does a filter whose delay depends on frequency.
    let isBent = bandShare < 0.6 && abs(bend) > max(0.005, 12 * estimate.boundFrames)
    if isBent || difference > max(0.05, 6 * estimate.boundFrames) { doubts.append(.disagreement) }
    if bandShare < 0.03 { doubts.append(.narrowBand) }
    let strength = abs(estimate.gain)
    for arrival in estimate.arrivals
    where abs(arrival.delayFrames - estimate.delayFrames) > 0.5 {
      if case .strongest = choice, arrival.delayFrames < estimate.delayFrames,
        abs(arrival.gain) > 0.3 * strength, !doubts.contains(.earlierArrival)
      {
        doubts.append(.earlierArrival)
      } else if case .strongest = choice, abs(arrival.gain) > 0.8 * strength,
        !doubts.contains(.ambiguous)
      {
        doubts.append(.ambiguous)
      }
    }
    return doubts
  }

  /// Stores the correlation a few frames around the result, and the response before and after it.
  private func draw(
    _ fit: ArrivalFit, _ answer: Arrival, _ transform: borrowing FourierTransform, offset: Int,
    into estimate: inout DelayEstimate
  ) {
    let step = 1.0 / 16
    let reach = 8.0
    let peak = fit.own.point(at: 0).value * answer.gain
    let firstLag = answer.delayFrames - reach
    estimate.correlation = SampledCurve(
      (0...Int(clamping: 2 * reach / step)).map {
        Float(fit.cross.point(at: firstLag + Double($0) * step).value / peak)
      }, firstFrame: firstLag + Double(offset), stepFrames: step)
    var whole = fit
    whole.arrivals = []
    let response = whole.unexplained(transform)
    let middle = Int(rounding: answer.delayFrames)
    let first = max(0, middle - 512)
    let end = min(response.count, middle + 4096, 2 * middle + 512)
    estimate.impulseResponse = SampledCurve(
      first < end ? Array(response[first..<end]) : [], firstFrame: Double(first + offset))
  }
}
