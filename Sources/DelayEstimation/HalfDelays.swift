import AudioSpectra
import Glibc

/// The delays of the first and the second half of a signal, measured separately. A constant delay
/// is the same in both.
struct HalfDelays {
  /// The delay of the second half less that of the first, in frames.
  let difference: Double
  /// The ratio of the deviation of the difference to that of the delay of the whole signal.
  let inflation: Double

  init(
    _ reference: Span<Float>, _ match: Match, _ fit: ArrivalFit, of arrival: Arrival,
    _ transform: borrowing FourierTransform
  ) {
    let half = reference.count / 2
    var first = reference.indices.map { reference[$0] }
    var second = first
    for frame in 0..<half { second[frame] = 0 }
    for frame in half..<first.count { first[frame] = 0 }
    let one = Self.peak(of: transform.spectrum(of: first.span), match, fit, arrival, transform)
    let two = Self.peak(of: transform.spectrum(of: second.span), match, fit, arrival, transform)
    difference = two.delay - one.delay
    // The sharpness of a peak determines the accuracy of its position.
    let whole = one.sharpness + two.sharpness
    inflation =
      min(one.sharpness, two.sharpness) > 0
      ? (whole / one.sharpness + whole / two.sharpness).squareRoot() : .infinity
  }

  /// Returns whether the two delays differ by more than their errors, for a delay of the whole
  /// signal with the bound `boundFrames`.
  func differ(boundFrames: Double) -> Bool {
    let deviation = inflation * boundFrames
    return abs(difference)
      > max(EstimateThreshold.equalFrames, EstimateThreshold.deviations * deviation)
  }

  /// Returns the correlation peak near `arrival`, with the weights of the fit. The sharpness is 0
  /// if the half is silent, and the delay is infinite if its polarity is opposite to that of the
  /// whole. Echoes affect both halves alike.
  private static func peak(
    of played: [ComplexFloat], _ match: Match, _ fit: ArrivalFit, _ arrival: Arrival,
    _ transform: borrowing FourierTransform
  ) -> (delay: Double, sharpness: Double) {
    var expected = 0.0
    let bins = played.indices.map { bin -> ComplexFloat in
      let power = match.played[bin].power
      guard power > 0 else { return ComplexFloat(0, 0) }
      let weight = fit.energy[bin] / power
      expected += Double(weight * played[bin].power)
      return match.recorded[bin] * played[bin].conjugate * weight
    }
    let correlation = CorrelationFunction(bins: bins, length: match.length)
    let samples = transform.signal(of: bins)
    func height(_ lag: Int) -> Float {
      abs(samples[(lag % samples.count + samples.count) % samples.count])
    }
    let middle = Int(rounding: arrival.delayFrames)
    let top = (middle - 32...middle + 32).max { height($0) < height($1) } ?? middle
    // In a high band, the highest sample may be beside the peak between frames.
    let starts = [arrival.delayFrames, Double(top)].map { ($0, correlation.point(at: $0)) }
    var (delay, point) = starts[abs(starts[1].1.value) > abs(starts[0].1.value) ? 1 : 0]
    let sign = point.value < 0 ? -1.0 : 1.0
    for _ in 0..<12 {
      let curvature = sign * point.curvature
      guard curvature < 0 else { return (delay, 0) }
      let step = max(-0.5, min(0.5, -sign * point.slope / curvature))
      delay += step
      if abs(step) < 1e-6 { break }
      point = correlation.point(at: delay)
    }
    // For a silent half, only noise would be measured, whose height is similar only by chance.
    let ratio = point.value / (arrival.gain * expected)
    if (-1.25 ... -0.8).contains(ratio) { return (.infinity, -sign * point.curvature) }
    return (delay, (0.5...2).contains(ratio) ? max(0, -sign * point.curvature) : 0)
  }
}
