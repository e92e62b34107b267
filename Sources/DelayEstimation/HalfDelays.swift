import AudioSpectra

/// The delays of the first and the second half of a signal, each for itself: what stands still is the
/// same in both.
struct HalfDelays {
  /// How much later the second half came than the first, in frames.
  let difference: Double
  /// How many times less exactly that is known than the delay of the whole.
  let inflation: Double

  init(
    _ reference: Span<Float>, _ match: Match, _ fit: ArrivalFit, delay: Double,
    _ transform: borrowing FourierTransform
  ) {
    let half = reference.count / 2
    var first = reference.indices.map { reference[$0] }
    var second = first
    for frame in 0..<half { second[frame] = 0 }
    for frame in half..<first.count { first[frame] = 0 }
    let one = Self.peak(of: transform.spectrum(of: first.span), match, fit, near: delay)
    let two = Self.peak(of: transform.spectrum(of: second.span), match, fit, near: delay)
    difference = two.delay - one.delay
    // How sharp a peak is says how well its place is known.
    let whole = one.sharpness + two.sharpness
    inflation =
      min(one.sharpness, two.sharpness) > 0
      ? (whole / one.sharpness + whole / two.sharpness).squareRoot() : .infinity
  }

  /// The top of the correlation near `start`, with the weights of the fit. What an echo does to it,
  /// it does to both halves.
  private static func peak(
    of played: [Complex], _ match: Match, _ fit: ArrivalFit, near start: Double
  ) -> (delay: Double, sharpness: Double) {
    let bins = played.indices.map { bin -> Complex in
      let power = match.played[bin].power
      guard power > 0 else { return Complex(0, 0) }
      return match.heard[bin] * played[bin].conjugate * (fit.energy[bin] / power)
    }
    let correlation = CorrelationFunction(bins: bins, length: match.length)
    var delay = start
    var point = correlation.point(at: delay)
    let sign = point.value < 0 ? -1.0 : 1.0
    for _ in 0..<12 {
      let curvature = sign * point.curvature
      guard curvature < 0 else { return (delay + (sign * point.slope > 0 ? 1 : -1), 0) }
      let step = max(-0.5, min(0.5, -sign * point.slope / curvature))
      delay += step
      if abs(step) < 1e-6 { break }
      point = correlation.point(at: delay)
    }
    return (delay, max(0, -sign * point.curvature))
  }
}
