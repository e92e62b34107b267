import AudioSpectra
import Glibc

/// The delays of the first and the second half of a signal, each for itself: what stands still is
/// the same in both.
struct HalfDelays {
  /// How much later the second half came than the first, in frames.
  let difference: Double
  /// How many times less exactly that is known than the delay of the whole.
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
    // How sharp a peak is says how well its place is known.
    let whole = one.sharpness + two.sharpness
    inflation =
      min(one.sharpness, two.sharpness) > 0
      ? (whole / one.sharpness + whole / two.sharpness).squareRoot() : .infinity
  }

  /// The peak of the correlation near `arrival`, with the weights of the fit: without sharpness
  /// where the half is not there, infinitely far away where it is upside down to the whole. What an
  /// echo does to it, it does to both halves.
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
    // Between frames a peak of a high band is higher than on either side.
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
    // Of a half that is silent only the noise would be seen, which is as high by chance only.
    let ratio = point.value / (arrival.gain * expected)
    if (-1.25 ... -0.8).contains(ratio) { return (.infinity, -sign * point.curvature) }
    return (delay, (0.5...2).contains(ratio) ? max(0, -sign * point.curvature) : 0)
  }
}
