import AudioSpectra

/// Finds out whether a signal is in a recording at all, and at which whole frame.
///
/// The correlation of both, whitened, is divided at each lag by the standard deviation it would have
/// if they had nothing to do with each other, which is the root of the correlation of their squares.
/// Chance then is a standard normal distribution, however loud, hummed or spoken the recording is
/// and whenever it is so.
struct ArrivalSearch {
  /// The lag of the strongest match, in frames.
  let lag: Int
  /// How many standard deviations it stands out.
  let score: Double
  /// The strongest match too far away to be an echo that is fitted, over the one found.
  private(set) var rival = 0.0
  /// The same among those that come earlier.
  private(set) var earlierRival = 0.0

  /// Chance alone reaches this in less than one of ten million recordings of a minute.
  static let leastScore = 7.5

  /// Nil where nothing was found.
  init?(reference: Span<Float>, recording: Span<Float>, lags: Range<Int>) {
    guard reference.count > 1, recording.count > 1, !lags.isEmpty,
      let transform = FourierTransform(atLeast: reference.count + recording.count)
    else { return nil }
    let reach = transform.length / 1024
    let played = transform.spectrum(of: reference)
    let heard = transform.spectrum(of: recording)
    let playedDensity = PowerDensity(of: played, reach: reach)
    let heardDensity = PowerDensity(of: heard, reach: reach)
    guard playedDensity.mean > 0, heardDensity.mean > 0 else { return nil }
    // Only where the reference has power can it be heard.
    let whitePlayed = playedDensity.limited(playedDensity.whitened(played))
    let whiteHeard = playedDensity.limited(heardDensity.whitened(heard))
    let match = Self.correlation(whitePlayed, whiteHeard, transform)
    let chance = Self.correlation(
      Self.squared(whitePlayed, transform), Self.squared(whiteHeard, transform), transform)
    // Where the two barely overlap, or the recording is silent, a variance says nothing.
    let least = 1e-3 * (chance.max() ?? 0)
    guard least > 0 else { return nil }
    let scores = lags.map { lag in
      let index = lag >= 0 ? lag : lag + transform.length
      return match[index] / max(chance[index], least).squareRoot()
    }
    // Signals that are no noise, a voice or a sweep, resemble each other more than chance has it.
    let usual = max(1, Self.deviation(of: scores))
    let threshold = Float(Self.leastScore * usual)
    // Of all that stand out the strongest, which has not always the highest score.
    var best: Int?
    for (place, lag) in lags.enumerated() where abs(scores[place]) >= threshold {
      let index = lag >= 0 ? lag : lag + transform.length
      if abs(match[index]) > best.map({ abs(match[$0]) }) ?? 0 { best = index }
    }
    guard let best else { return nil }
    lag = best < recording.count ? best : best - transform.length
    score = Double(abs(match[best]) / max(chance[best], least).squareRoot()) / usual
    let near = DelayEstimator.guardFrames(reference.count)
    for (place, other) in lags.enumerated()
    where abs(scores[place]) >= threshold && abs(other - lag) > near {
      let index = other >= 0 ? other : other + transform.length
      let strength = Double(abs(match[index] / match[best]))
      if strength > rival { rival = strength }
      if other < lag, strength > earlierRival { earlierRival = strength }
    }
  }

  /// The standard deviation of all scores but the highest thousandth, which may be matches.
  private static func deviation(of scores: [Float]) -> Double {
    let magnitudes = scores.map { abs($0) }.sorted()
    let kept = magnitudes.prefix(max(1, magnitudes.count - magnitudes.count / 1000 - 1))
    let sum = kept.reduce(0.0) { $0 + Double($1) * Double($1) }
    return (sum / Double(max(1, kept.count))).squareRoot()
  }

  private static func correlation(
    _ played: [Complex], _ heard: [Complex], _ transform: borrowing FourierTransform
  ) -> [Float] {
    transform.signal(of: played.indices.map { heard[$0] * played[$0].conjugate })
  }

  /// The spectrum of the square of the signal of which this is the spectrum.
  private static func squared(_ spectrum: [Complex], _ transform: borrowing FourierTransform)
    -> [Complex]
  {
    let signal = transform.signal(of: spectrum).map { $0 * $0 }
    return transform.spectrum(of: signal.span)
  }
}
