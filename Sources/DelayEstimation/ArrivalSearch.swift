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
    let whitePlayed = playedDensity.whitened(played)
    let whiteHeard = heardDensity.whitened(heard)
    let match = Self.correlation(whitePlayed, whiteHeard, transform)
    let chance = Self.correlation(
      Self.squared(whitePlayed, transform), Self.squared(whiteHeard, transform), transform)
    // Where the two barely overlap, or the recording is silent, a variance says nothing.
    let least = 1e-3 * (chance.max() ?? 0)
    guard least > 0 else { return nil }
    var best = 0
    var bestScore: Float = -1
    for lag in lags {
      let index = lag >= 0 ? lag : lag + transform.length
      guard index >= 0, index < transform.length else { continue }
      let score = match[index] * match[index] / max(chance[index], least)
      if score > bestScore {
        bestScore = score
        best = lag
      }
    }
    lag = best
    score = Double(max(0, bestScore)).squareRoot()
    guard score >= Self.leastScore else { return nil }
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
