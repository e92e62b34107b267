import AudioSpectra
import Glibc

/// Determines whether a signal is in a recording at all, and at which whole frame.
///
/// The whitened correlation of both is divided at each lag by the standard deviation that it would
/// have for unrelated signals, which is the square root of the correlation of their squares. The
/// score of unrelated signals then has a standard normal distribution, no matter how loud the
/// recording is, when it is loud, and whether it contains hum or speech.
///
/// The peaks of the plain correlation and of the phase transform (GCC-PHAT) are candidates as well.
/// Of all these lags, the search selects the one at which the recording is most coherent with the
/// reference. The correlation weighted by this coherence (`Coherence.weights`) determines the
/// result.
struct ArrivalSearch {
  /// The lag of the strongest match, in frames.
  let lag: Int
  /// The height of the match, in standard deviations.
  let score: Double
  /// The strength of the strongest match too far away to be fitted as an echo, relative to the
  /// match found.
  private(set) var secondPeakRatio = 0.0
  /// The same among earlier matches.
  private(set) var earlierPeakRatio = 0.0
  /// The natural logarithm of the ratio of the likelihood of the lag found to that of the next lag
  /// outside its peak.
  let margin: Double
  /// The natural logarithm of the likelihood ratio of the recording with and without the reference
  /// at this lag.
  let likelihood: Double
  /// The lags of the peaks of plain correlation and phase transform.
  let otherLags: [Int]
  /// The recording, each frequency weighted by its coherence. Its correlation with the reference is
  /// the logarithm of the likelihood of each lag.
  let weightedRecording: [Float]

  /// The least score of a match. Unrelated signals reach it in less than one of ten million
  /// recordings of a minute.
  static let minimumScore = 7.5

  /// Searches `lags`. Returns nil if the signal is not found.
  init?(reference: Span<Float>, recording: Span<Float>, lags: Range<Int>) {
    guard reference.count > 1, recording.count > 1, !lags.isEmpty,
      let transform = FourierTransform(atLeast: reference.count + recording.count)
    else { return nil }
    let spectra = Spectra(
      played: transform.spectrum(of: reference), recorded: transform.spectrum(of: recording),
      length: transform.length)
    let all = LagIndices(lags: lags, length: transform.length)
    guard let whitened = WhitenedMatch(spectra, all, transform) else { return nil }
    // If the two overlap only a little, only their ends are correlated.
    let overlap = reference.count / 8
    let inner = lags.clamped(to: overlap - reference.count..<max(1, recording.count - overlap))
    let reachable = LagIndices(
      lags: whitened.strongest == nil ? inner : lags, length: transform.length)
    let candidates = Self.candidates(whitened, spectra, reachable, transform)
    guard let first = candidates.max(by: { $0.likelihood < $1.likelihood }),
      let best = Self.refined(first, spectra, reachable, transform)
    else { return nil }
    guard
      whitened.strongest != nil
        || Self.isUnique(best, spectra, all, guardFrames: reference.count / 16)
    else { return nil }
    likelihood = best.likelihood
    let likelihoodScore = (2 * max(0, likelihood)).squareRoot()
    score =
      whitened.strongest.map {
        max(likelihoodScore, Double(abs($0.score)) / whitened.scoreDeviation)
      } ?? likelihoodScore
    let recordedFrames = recording.count
    func lagFrames(at lagIndex: Int) -> Int {
      lagIndex < recordedFrames ? lagIndex : lagIndex - spectra.length
    }
    lag = lagFrames(at: best.lagIndex)
    let weights = best.coherence.weights
    let coherent = best.coherence.bins
    weightedRecording = transform.signal(
      of: spectra.recorded.indices.map { spectra.recorded[$0] * weights[$0] })
    let otherCorrelations = [spectra.cross, spectra.phases].map { bins in
      transform.signal(of: bins.indices.map { bins[$0] * (coherent[$0] ? 1 : 0) })
    }
    otherLags = otherCorrelations.compactMap { reachable.highest($0) }.map { lagFrames(at: $0) }
    margin = all.margin(of: best.heights, around: best.lagIndex) * Double(transform.length) / 2
    compareOthers(whitened, best, all, guardFrames: DelayEstimator.guardFrames(reference.count))
  }

  /// Sets the ratios of matches that are more than `guardFrames` away to the match found.
  private mutating func compareOthers(
    _ whitened: WhitenedMatch, _ best: Candidate, _ all: LagIndices, guardFrames: Int
  ) {
    for (lagIndex, other) in all.lags.enumerated()
    where abs(whitened.scores[lagIndex]) >= whitened.threshold && abs(other - lag) > guardFrames {
      let index = all[lagIndex]
      let strength = Double(abs(best.heights[index] / best.heights[best.lagIndex]))
      if strength > secondPeakRatio { secondPeakRatio = strength }
      if other < lag, strength > earlierPeakRatio { earlierPeakRatio = strength }
    }
  }

  /// Returns the highest peaks of the whitened correlation, the plain correlation and the phase
  /// transform.
  private static func candidates(
    _ whitened: WhitenedMatch, _ spectra: Spectra, _ reachable: LagIndices,
    _ transform: borrowing FourierTransform
  ) -> [Candidate] {
    var candidates: [Candidate] = []
    if let strongest = whitened.strongest {
      candidates.append(
        Candidate(lagIndex: strongest.lagIndex, heights: whitened.heights, spectra))
    }
    let plain = transform.signal(of: spectra.cross)
    let phase = transform.signal(of: whitened.playedDensity.limited(spectra.phases))
    for heights in [plain, phase] {
      if let lagIndex = reachable.highest(heights) {
        candidates.append(Candidate(lagIndex: lagIndex, heights: heights, spectra))
      }
    }
    return candidates
  }

  /// Returns the peak of the correlation weighted by the coherence at the candidate, repeated until
  /// the peak does not move. Returns nil if such a correlation is zero.
  private static func refined(
    _ candidate: Candidate, _ spectra: Spectra, _ reachable: LagIndices,
    _ transform: borrowing FourierTransform
  ) -> Candidate? {
    var best = candidate
    for _ in 0..<3 {
      let weights = best.coherence.weights
      let heights = transform.signal(
        of: spectra.cross.indices.map { spectra.cross[$0] * weights[$0] })
      guard let lagIndex = reachable.highest(heights) else { return nil }
      let next = Candidate(lagIndex: lagIndex, heights: heights, spectra)
      let isSettled = lagIndex == best.lagIndex
      guard next.likelihood >= 0.9 * best.likelihood else { break }
      best = next
      if isSettled { break }
    }
    return best
  }

  /// Returns whether a match without a sufficient score is more coherent than any other lag, at a
  /// distance of more than `guardFrames`. Two tones, or two sustained chords, are equally coherent
  /// at other lags.
  private static func isUnique(
    _ best: Candidate, _ spectra: Spectra, _ all: LagIndices, guardFrames: Int
  ) -> Bool {
    let elsewhere = stride(from: 1, through: 24, by: 1).map { step in
      let lagIndex = all.count * (2 * step - 1) / 48
      return Candidate(lagIndex: all[lagIndex], heights: [], spectra)
    }.filter { all.distance($0.lagIndex, best.lagIndex) > guardFrames }
      .map(\.likelihood)
    let mean = elsewhere.reduce(0, +) / Double(max(1, elsewhere.count))
    let spread = elsewhere.reduce(0) { max($0, abs($1 - mean)) }
    let parts = Double(best.coherence.surplus.count)
    return elsewhere.count > 4 && best.likelihood > mean + 4 * spread
      && best.likelihood > 30 + 8 * parts.squareRoot()
  }
}

/// The correlation of the whitened signals, and its score at each lag.
private struct WhitenedMatch {
  let playedDensity: PowerDensity
  let heights: [Float]
  /// The heights in standard deviations of unrelated signals, by lag.
  let scores: [Float]
  /// The deviation of the scores, at least 1. Signals other than noise, such as a voice or a sweep,
  /// correlate more than chance predicts.
  let scoreDeviation: Double
  /// The least score of a match.
  let threshold: Float
  /// The strongest match, which does not always have the highest score; nil if there is none.
  let strongest: (lagIndex: Int, score: Float)?

  /// Returns nil if one of the signals is silent, or if the two barely overlap.
  init?(_ spectra: Spectra, _ all: LagIndices, _ transform: borrowing FourierTransform) {
    let density = PowerDensity(of: spectra.played, length: spectra.length)
    let recordedDensity = PowerDensity(of: spectra.recorded, length: spectra.length)
    guard density.mean > 0, recordedDensity.mean > 0 else { return nil }
    // The reference is audible only at frequencies where it has power.
    let whitePlayed = density.limited(density.whitened(spectra.played))
    let whiteRecorded = density.limited(recordedDensity.whitened(spectra.recorded))
    let match = Self.correlation(whitePlayed, whiteRecorded, transform)
    let chance = Self.correlation(
      Self.squared(whitePlayed, transform), Self.squared(whiteRecorded, transform), transform)
    // If the two barely overlap, or the recording is silent, the variance is meaningless.
    let minimum = 1e-3 * (chance.max() ?? 0)
    guard minimum > 0 else { return nil }
    let scores = all.map { match[$0] / max(chance[$0], minimum).squareRoot() }
    let scoreDeviation = max(1, Self.deviation(of: scores))
    let threshold = Float(ArrivalSearch.minimumScore * scoreDeviation)
    strongest = zip(all, scores).filter { abs($0.1) >= threshold }
      .max { abs(match[$0.0]) < abs(match[$1.0]) }.map { (lagIndex: $0.0, score: $0.1) }
    playedDensity = density
    heights = match
    self.scores = scores
    self.scoreDeviation = scoreDeviation
    self.threshold = threshold
  }

  /// Returns the standard deviation of all scores except the highest thousandth, which may be
  /// matches.
  private static func deviation(of scores: [Float]) -> Double {
    let magnitudes = scores.map { abs($0) }.sorted()
    let kept = magnitudes.prefix(max(1, magnitudes.count - magnitudes.count / 1000 - 1))
    let sum = kept.reduce(0.0) { $0 + Double($1) * Double($1) }
    return (sum / Double(max(1, kept.count))).squareRoot()
  }

  private static func correlation(
    _ played: [ComplexFloat], _ recorded: [ComplexFloat], _ transform: borrowing FourierTransform
  ) -> [Float] {
    transform.signal(of: played.indices.map { recorded[$0] * played[$0].conjugate })
  }

  /// Returns the spectrum of the squared signal, given the spectrum of the signal.
  private static func squared(_ spectrum: [ComplexFloat], _ transform: borrowing FourierTransform)
    -> [ComplexFloat]
  {
    let signal = transform.signal(of: spectrum).map { $0 * $0 }
    return transform.spectrum(of: signal.span)
  }
}

/// The spectra of the played and the recorded signal, of equal length, and their cross-spectrum.
private struct Spectra {
  let played: [ComplexFloat]
  let recorded: [ComplexFloat]
  let cross: [ComplexFloat]
  /// The cross-spectrum scaled to magnitude 1: the phase transform.
  let phases: [ComplexFloat]
  let power: [Float]
  let recordedPower: [Float]
  let length: Int

  init(played: [ComplexFloat], recorded: [ComplexFloat], length: Int) {
    self.played = played
    self.recorded = recorded
    self.length = length
    cross = played.indices.map { recorded[$0] * played[$0].conjugate }
    phases = cross.map { $0.power > 0 ? $0 * (1 / $0.power.squareRoot()) : $0 }
    power = played.map(\.power)
    recordedPower = recorded.map(\.power)
  }
}

/// A candidate lag, and the coherence of the recording with the reference at it.
private struct Candidate {
  /// The index of the lag in a correlation.
  let lagIndex: Int
  /// The correlation that peaks at the lag.
  let heights: [Float]
  let coherence: Coherence
  var likelihood: Double { coherence.likelihood }

  init(lagIndex: Int, heights: [Float], _ spectra: Spectra) {
    self.lagIndex = lagIndex
    self.heights = heights
    coherence = Coherence(
      cross: spectra.cross, power: spectra.power, recordedPower: spectra.recordedPower,
      length: spectra.length, delay: Double(lagIndex))
  }
}

/// The indices of lags in a correlation. Negative lags are at its end.
private struct LagIndices: RandomAccessCollection {
  let lags: Range<Int>
  let length: Int

  var startIndex: Int { 0 }
  var endIndex: Int { lags.count }
  subscript(index: Int) -> Int {
    let lag = lags.lowerBound + index
    return lag >= 0 ? lag : lag + length
  }

  /// Returns the frames from one index to another, along the shorter way round.
  func distance(_ one: Int, _ other: Int) -> Int {
    Swift.min(abs(one - other), length - abs(one - other))
  }

  /// Returns the index at which the magnitude of `heights` is largest, or nil if all are zero.
  func highest(_ heights: [Float]) -> Int? {
    var best: Int?
    var height: Float = 0
    for lagIndex in self where abs(heights[lagIndex]) > height {
      height = abs(heights[lagIndex])
      best = lagIndex
    }
    return best
  }

  /// Returns the difference between the height at `peak` and the largest of all others outside the
  /// same peak. The peak extends on either side twice as far as its height exceeds half its
  /// maximum.
  func margin(of heights: [Float], around peak: Int) -> Double {
    let sign: Float = heights[peak] < 0 ? -1 : 1
    let height = sign * heights[peak]
    var reach = 1
    while reach < length / 4,
      Swift.max(
        sign * heights[(peak + reach) % length], sign * heights[(peak - reach + length) % length])
        > 0.5 * height
    {
      reach += 1
    }
    var next: Float = 0
    for lagIndex in self where distance(lagIndex, peak) > 2 * reach {
      next = Swift.max(next, abs(heights[lagIndex]))
    }
    return Double(height - next)
  }
}
