import AudioSpectra
import Glibc

/// Finds how late a known signal comes in a recording, to a small fraction of a frame. Knows no
/// device and no file: spans in, a value out. Any thread but the audio thread.
///
/// ## How
///
/// 1. Correlation, whitened and measured against what chance would give, plain correlation and the phase
///    transform each name a whole frame. The one where the recording is most coherent with the reference
///    is refined by a correlation weighted by coherence, or the signal is not there
///    (`ArrivalSearch`, `Coherence`).
/// 2. Delay and the difference of two clocks are searched together, and the reference is stretched by
///    what the clocks differ (`ClockDrift`).
/// 3. Least squares place the direct sound and its echoes between frames, on the exact
///    band-limited correlation (`ArrivalFit`), weighted by the noise that is left, within the band
///    in which the signal came through (`SignalBand`). A parabola through three points of the peak
///    would be up to 0.115 frame off.
/// 4. Weighted correlation, plain correlation, phase transform and the slope of the phase over
///    frequency must agree (`PhaseSlope`, `PhaseResidual`). Where they differ, where an echo rivals the
///    direct sound, or where one that cannot be told apart may have moved the answer by more than half
///    a frame, the estimate carries a doubt.
///
/// ## How well it can be known
///
/// No estimate without bias has a smaller deviation than the Cramér-Rao bound. For a known signal of
/// even spectrum, N frames long, in white noise at a ratio of powers SNR it is, in frames,
///
///     sigma >= sqrt(3 / (pi^2 N SNR)) = 0.551 / sqrt(N SNR)
///
/// and for any other spectrum S and noise P over angular frequency w,
///
///     sigma >= 1 / sqrt(2 sum(w^2 |S|^2 / P))
///
/// which `DelayEstimate.boundFrames` is worked out from. It holds while N SNR is above about 100;
/// below, a correlation finds wrong peaks, and so no answer is given.
///
/// ```swift
/// let probe = ProbeSignal(seed: 7, frames: 2400)
/// let recording = [Float](repeating: 0, count: 100) + probe.samples
/// let estimate = DelayEstimator().estimate(reference: probe.samples.span, in: recording.span)
/// precondition(abs((estimate?.delayFrames ?? 0) - 100) < 0.01)
/// ```
public struct DelayEstimator: Sendable {
  /// Which arrival is the answer.
  public enum Choice: Sendable {
    /// The strongest: on a wire, the only one.
    case strongest
    /// The first that is at least 0.3 of the strongest and six deviations above the noise: through
    /// the air, where walls can be louder than the direct way.
    case first
  }

  /// Which arrival is the answer.
  public var choice = Choice.strongest
  /// Whether the estimate brings `curve` and `response` along.
  public var draws = false

  /// An estimator of the strongest arrival.
  public init() {}

  /// How late `reference` comes in `recording`, both starting at the same moment, or nil where it is
  /// not to be found. Only delays within `lags` frames count; all are looked at where it is nil.
  public func estimate(
    reference: Span<Float>, in recording: Span<Float>, lags: Range<Int>? = nil
  ) -> DelayEstimate? {
    let all = (1 - reference.count)..<max(1, recording.count)
    let range = lags?.clamped(to: all) ?? all
    guard var found = ArrivalSearch(reference: reference, recording: recording, lags: range)
    else { return nil }
    // The reference is stretched until it drifts no more.
    var stretched = reference.indices.map { reference[$0] }
    var stretch = 0.0
    var drift = ClockDrift(reference, found)
    var rounds = 0
    while let step = drift, step.isSignificant, rounds < 5 {
      let longer = ClockDrift.stretched(reference, by: stretch + step.frames)
      guard let next = ArrivalSearch(reference: longer.span, recording: recording, lags: range),
        next.likelihood > found.likelihood + 10
      else { break }
      (stretched, found, stretch) = (longer, next, stretch + step.frames)
      drift = ClockDrift(stretched.span, found)
      rounds += 1
    }
    guard var estimate = place(stretched.span, in: recording, found) else { return nil }
    estimate.driftPPM = 1e6 * stretch / Double(max(1, reference.count))
    if stretch != 0 { estimate.add(.drifting) }
    // Half of what the drift may be in error is the delay's as well. A drift that makes the recording no likelier is
    // none.
    if drift?.isSignificant == true { drift = nil }
    let driftFrames = (drift?.deviation ?? estimate.boundFrames) / 2
    if driftFrames > 0.25 { estimate.add(.faint) }
    estimate.deviationFrames = hypot(estimate.deviationFrames, driftFrames)
    return estimate
  }

  /// Places the arrivals around what `found` says.
  private func place(
    _ reference: Span<Float>, in recording: Span<Float>, _ found: ArrivalSearch
  ) -> DelayEstimate? {
    // Room for echoes on either side; the rest of the recording holds nothing but noise.
    let guardFrames = Self.guardFrames(reference.count)
    let start = found.lag - guardFrames
    let frames = reference.count + 2 * guardFrames
    let excerpt = (start..<start + frames).map {
      recording.indices.contains($0) ? recording[$0] : 0
    }
    guard let transform = FourierTransform(atLeast: frames) else { return nil }
    let match = Match(
      played: transform.spectrum(of: reference), recorded: transform.spectrum(of: excerpt.span),
      length: transform.length, lags: 0..<2 * guardFrames + 1, score: found.score)
    guard let fit = match.fit(transform, choice), let chosen = match.chosen(from: fit, choice),
      var estimate = conclude(
        match, fit, chosen, transform, offset: start, frames: reference.count)
    else { return nil }
    if case .strongest = choice {
      if found.earlierRival > 0.3 { estimate.add(.earlierArrival) }
      if found.rival > 0.8 { estimate.add(.ambiguous) }
      // What is fitted is elsewhere than what was found.
      if abs(estimate.delayFrames - Double(found.lag)) > 2 { estimate.add(.disagreement) }
      // Faint, and one of several: that is what two signals do that only resemble each other.
      let isOneOfMany =
        found.rival > 0.7 || estimate.doubts.contains(.ambiguous)
        || estimate.doubts.contains(.earlierArrival)
      if isOneOfMany, estimate.score < 12 { return nil }
    }
    let residual = PhaseResidual(fit.fit, of: chosen, power: match.power)
    let isUnanimous =
      residual.otherDelays.allSatisfy { abs($0) < 0.5 }
      && found.otherLags.allSatisfy { abs(Double($0) - estimate.strongestFrames) < 1.5 }
    if !isUnanimous { estimate.add(.disagreement) }
    if found.margin < 30 { estimate.add(.ambiguous) }
    if residual.hiddenEchoFrames > 0.5 { estimate.add(.narrowBand) }
    let halves = HalfDelays(
      reference, match, fit.fit, of: fit.fit.arrivals[chosen], transform)
    if abs(halves.difference) > max(0.05, 6 * halves.inflation * estimate.boundFrames) {
      estimate.add(.drifting)
    }
    // So faint a signal does not stand out of the noise by its correlation: what was found is a resemblance.
    let power = pow(10, estimate.signalToNoiseDB / 10) * Double(reference.count)
    guard power > Self.leastPower else { return nil }
    // Rounding to single precision alone is a ten-thousandth of a frame.
    estimate.deviationFrames =
      (estimate.boundFrames * estimate.boundFrames
      + residual.hiddenEchoFrames * residual.hiddenEchoFrames / 4 + 1e-8).squareRoot()
    return estimate
  }

  /// The least power of a signal times its frames, over that of the noise: the square of the standard deviations by
  /// which its correlation stands out.
  private static let leastPower = 4.0

  /// Frames before and after a match in which echoes are looked for.
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
    // In a band that is not whole, an echo within the width of the peak pulls at the delay without being
    // told apart. It bends the phase, as does a filter that delays some frequencies more than others.
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

  /// The correlation a few frames around the answer, and the response before and after it.
  private func draw(
    _ fit: ArrivalFit, _ answer: Arrival, _ transform: borrowing FourierTransform, offset: Int,
    into estimate: inout DelayEstimate
  ) {
    let step = 1.0 / 16
    let reach = 8.0
    let peak = fit.own.point(at: 0).value * answer.gain
    estimate.curveStepFrames = step
    estimate.curveFirstFrame = answer.delayFrames - reach + Double(offset)
    estimate.curve = (0...Int(clamping: 2 * reach / step)).map {
      let lag = answer.delayFrames - reach + Double($0) * step
      return Float(fit.cross.point(at: lag).value / peak)
    }
    var whole = fit
    whole.arrivals = []
    let response = whole.unexplained(transform)
    let middle = Int(rounding: answer.delayFrames)
    let first = max(0, middle - 512)
    let end = min(response.count, middle + 4096, 2 * middle + 512)
    estimate.responseFirstFrame = first + offset
    estimate.response = first < end ? Array(response[first..<end]) : []
  }
}

/// How repeated measurements of one thing are spread.
///
/// ```swift
/// let spread = Spread(of: [612.1, 612.2, 612.0])
/// precondition(spread?.median == 612.1 && spread?.maximum == 612.2)
/// ```
public struct Spread: Sendable, Equatable {
  /// The middle one, or the mean of the middle two.
  public let median: Double
  /// The mean.
  public let mean: Double
  /// The standard deviation of a single measurement, from these where there are two or more.
  public let standardDeviation: Double
  /// Where the mean of all possible measurements lies with a probability of 95 %, by Student's t
  /// distribution.
  public let interval95: ClosedRange<Double>
  /// The least.
  public let minimum: Double
  /// The greatest.
  public let maximum: Double
  /// How far one measurement lies from the next, on average.
  public let jitter: Double

  /// Quantiles of Student's t distribution at 0.975, for 1 to 30 degrees of freedom.
  private static let quantiles = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
    2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056,
    2.052, 2.048, 2.045, 2.042,
  ]

  /// That of `values`, in the order they were measured; nil where there are none. One alone does not show
  /// how it is spread: then its deviation is taken to be `deviationOfOne`.
  public init?(of values: [Double], deviationOfOne: Double = 0) {
    let sorted = values.sorted()
    guard let least = sorted.first, let greatest = sorted.last else { return nil }
    let count = Double(values.count)
    let middle = sorted.count / 2
    median = sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
    let mean = values.reduce(0, +) / count
    self.mean = mean
    minimum = least
    maximum = greatest
    let squares = values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
    let deviation = values.count > 1 ? (squares / (count - 1)).squareRoot() : deviationOfOne
    standardDeviation = deviation
    let degrees = values.count - 1
    let quantile = Self.quantiles.indices.contains(degrees - 1) ? Self.quantiles[degrees - 1] : 1.96
    let reach = quantile * deviation / count.squareRoot()
    interval95 = (mean - reach)...(mean + reach)
    let steps = zip(values, values.dropFirst()).map { abs($1 - $0) }
    jitter = steps.isEmpty ? 0 : steps.reduce(0, +) / Double(steps.count)
  }
}
