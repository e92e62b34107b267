import AudioSpectra
import Glibc

/// The spectra of the played signal and of the recording around the position where it was found.
struct Match {
  /// A fit, with its band and its noise.
  struct Outcome {
    var fit: ArrivalFit
    var band: SignalBand
    /// The smoothed power at each bin that no arrival explains.
    var noise: [Double]
  }

  /// One arrival without the others.
  struct IsolatedArrival {
    /// Its spectrum without its delay. The frequencies are weighted so that its correlation with
    /// the played signal is the logarithm of the likelihood of each lag.
    var bins: [ComplexFloat]
    /// The likelihood ratio with and without the played signal, for any phase of each part of the
    /// spectrum: a natural logarithm.
    var likelihood: Double
  }

  /// The accuracy of the result.
  struct Quality {
    var signalToNoiseDB: Double
    var boundFrames: Double
  }

  let played: [ComplexFloat]
  let recorded: [ComplexFloat]
  /// The number of frames of the transform.
  let length: Int
  /// The delays that can be measured in the excerpt, in frames.
  let lags: Range<Int>
  let score: Double
  private let cross: [ComplexFloat]
  /// The power of the played signal at each bin.
  let power: [Float]
  private let recordedPower: [Float]
  private let playedDensity: PowerDensity
  private let recordedDensity: PowerDensity

  init(
    played: [ComplexFloat], recorded: [ComplexFloat], length: Int, lags: Range<Int>, score: Double
  ) {
    self.played = played
    self.recorded = recorded
    self.length = length
    self.lags = lags
    self.score = score
    cross = played.indices.map { recorded[$0] * played[$0].conjugate }
    power = played.map(\.power)
    recordedPower = recorded.map(\.power)
    playedDensity = PowerDensity(of: played, length: length)
    recordedDensity = PowerDensity(of: recorded, length: length)
  }

  /// The number of fits with the band and the noise that follow from the arrivals of the previous
  /// fit. The first is made without echoes, the others with them.
  private static let rounds = 3
  /// The least density of the played signal that counts in a weight, relative to its mean (-20 dB):
  /// at gaps in its spectrum the weight would be that of the noise alone.
  private static let densityFloor = 0.01
  /// The highest signal-to-noise ratio of a result in dB: there may be no noise at all.
  private static let maximumRatioDB = 200.0

  /// Fits the arrivals near a lag in frames: first the strongest alone, from which band and noise
  /// are estimated, then with its echoes. Returns nil if there is no arrival.
  func fit(
    _ transform: borrowing FourierTransform, _ choice: DelayEstimator.Choice, near middle: Double
  ) -> Outcome? {
    // First treat the whole recording as noise, so that a hum does not outweigh the signal.
    var first = Arrival(delayFrames: middle, gain: 0)
    let around = band(at: middle)
    var outcome = Outcome(
      fit: weighted(around, noise: recordedDensity.bins, gain: around.gain, first), band: around,
      noise: [])
    outcome.fit.refine()
    for round in 0..<Self.rounds {
      first = outcome.fit.arrivals[0]
      let band = band(at: first.delayFrames)
      let arrivals = outcome.fit.arrivals
      let noise = unexplained(arrivals)
      outcome = Outcome(
        fit: weighted(band, noise: noise.bins, gain: arrivals[0].gain, arrivals[0]), band: band,
        noise: noise.bins)
      outcome.fit.arrivals = arrivals
      outcome.fit.refine()
      if case .first = choice { addFirstArrival(&outcome.fit, transform) }
      // Echoes can be detected only once the noise is known.
      if round > 0 { outcome.fit.explain(transform, within: lags) }
      outcome.fit.prune()
    }
    outcome.noise = unexplained(outcome.fit.arrivals).bins
    return outcome.fit.arrivals.isEmpty ? nil : outcome
  }

  /// Returns the natural logarithm of the likelihood ratio of `frames` frames with the arrivals and
  /// as noise alone, by Whittle's approximation. Frequencies at which the arrivals do not increase
  /// the likelihood count as not received. (P. Whittle, "Estimation and information in stationary
  /// time series", Arkiv för Matematik 2, 1953.)
  func likelihood(of outcome: Outcome, frames: Int) -> Double {
    let sum = zip(recordedDensity.bins, outcome.noise).reduce(0.0) { sum, powers in
      guard powers.0 > powers.1, powers.1 > 0 else { return sum }
      return sum + log(powers.0 / powers.1)
    }
    return sum * Double(frames) / Double(length)
  }

  /// Returns the recording without all arrivals except the chosen one.
  func isolated(_ outcome: Outcome, _ chosen: Int) -> IsolatedArrival {
    let fit = outcome.fit
    var rest = CorrelationFunction(bins: recorded, length: length)
    for (other, arrival) in fit.arrivals.enumerated() where other != chosen {
      rest.subtract(gain: arrival.gain, at: arrival.delayFrames, spectrum: played)
    }
    let own = fit.arrivals[chosen]
    let step = 2 * Double.pi * own.delayFrames / Double(length)
    let scale = 2 * abs(own.gain) / fit.weightScale
    let bins = rest.bins.indices.map { bin -> ComplexFloat in
      guard fit.energy[bin] > 0, power[bin] > 0 else { return ComplexFloat(0, 0) }
      let angle = step * Double(bin)
      let weight = scale * Double(fit.energy[bin] / power[bin])
      return rest.bins[bin] * ComplexFloat(Float(weight * cos(angle)), Float(weight * sin(angle)))
    }
    let coherence = Coherence(
      cross: bins.indices.map { bins[$0] * played[$0].conjugate }, power: power,
      recordedPower: bins.map(\.power), length: length, delay: 0)
    return IsolatedArrival(bins: bins, likelihood: coherence.likelihood)
  }

  private func band(at delay: Double) -> SignalBand {
    SignalBand(
      cross: cross, power: power, recordedPower: recordedPower, length: length, delay: delay,
      recordedDensity: recordedDensity)
  }

  /// Returns the index of the arrival that is the result.
  func chosen(from outcome: Outcome, _ choice: DelayEstimator.Choice) -> Int? {
    let arrivals = outcome.fit.arrivals
    let strongest = arrivals.reduce(0) { max($0, abs($1.gain)) }
    switch choice {
    case .strongest:
      return arrivals.indices.max { abs(arrivals[$0].gain) < abs(arrivals[$1].gain) }
    case .first:
      return arrivals.indices.filter {
        abs(arrivals[$0].gain) >= EstimateThreshold.earlierGain * strongest
      }
      .min { arrivals[$0].delayFrames < arrivals[$1].delayFrames }
    }
  }

  /// Returns the power ratio within the band and the Cramér-Rao bound that follows from it.
  func quality(_ outcome: Outcome, _ chosen: Int, frames: Int) -> Quality {
    let arrival = outcome.fit.arrivals[chosen]
    var signal = 0.0
    var noise = 0.0
    var information = 0.0
    let squaredGain = arrival.gain * arrival.gain
    // Weighted like the fit, because a range that a filter distorts is not noise.
    let floor = Self.densityFloor * SpectrumPart.minimumNoise * squaredGain * playedDensity.mean
    for bin in 1..<max(2, power.count - 1) where outcome.band.bins[bin] {
      let frequency = 2 * Double.pi * Double(bin) / Double(length)
      let recordedPower = squaredGain * Double(power[bin])
      let weight =
        1
        / (outcome.noise[bin] + SpectrumPart.minimumNoise * squaredGain * playedDensity.bins[bin]
          + floor)
      signal += weight * recordedPower
      noise += weight * outcome.noise[bin]
      information += frequency * frequency * recordedPower / max(outcome.noise[bin], 1e-30)
    }
    // The excerpt is longer than the signal, so it contains more noise than the time of the signal.
    noise *= Double(frames) / Double(lags.upperBound - 1 + frames)
    let ratio = noise > 0 && signal > 0 ? 10 * log10(signal / noise) : Self.maximumRatioDB
    return Quality(
      signalToNoiseDB: min(Self.maximumRatioDB, ratio),
      boundFrames: information > 0
        ? outcome.fit.inflation(of: chosen) / (2 * information).squareRoot() : .infinity)
  }

  /// Returns a fit whose bins are weighted by the inverse of their noise, limited to noise that is
  /// significant beside the signal.
  private func weighted(
    _ band: SignalBand, noise: [Double], gain: Double, _ first: Arrival
  ) -> ArrivalFit {
    let ample = SpectrumPart.minimumNoise * gain * gain
    let weights = power.indices.map { bin in
      guard band.bins[bin] else { return Float(0) }
      let clutter =
        noise[bin] + ample * (playedDensity.bins[bin] + Self.densityFloor * playedDensity.mean)
      return clutter > 0 ? Float(1 / clutter) : 0
    }
    // Scaled to about one, so that single precision suffices at any level.
    let highest = weights.max() ?? 0
    let scale = highest > 0 ? 1 / highest : 0
    return ArrivalFit(
      cross: CorrelationFunction(
        bins: cross.indices.map { cross[$0] * (weights[$0] * scale) }, length: length),
      energy: power.indices.map { power[$0] * weights[$0] * scale }, weightScale: Double(scale),
      bandShare: band.share,
      first: first)
  }

  private func unexplained(_ arrivals: [Arrival]) -> PowerDensity {
    var rest = CorrelationFunction(bins: recorded, length: length)
    for arrival in arrivals {
      rest.subtract(gain: arrival.gain, at: arrival.delayFrames, spectrum: played)
    }
    return PowerDensity(of: rest.bins, length: length)
  }

  /// Adds an arrival at the first rise of the response, if that is before all others.
  private func addFirstArrival(
    _ fit: inout ArrivalFit, _ transform: borrowing FourierTransform
  ) {
    var whole = fit
    whole.arrivals = []
    let response = whole.unexplained(transform)
    let highest = lags.reduce(Float(0)) { max($0, abs(response[$1])) }
    let floor = max(
      Float(EstimateThreshold.earlierGain) * highest,
      Float(EstimateThreshold.deviations) * Float(ArrivalFit.deviation(of: response)))
    guard let rise = lags.first(where: { abs(response[$0]) >= floor }) else { return }
    // Advance from the rise to its crest.
    var crest = rise
    while crest + 1 < lags.upperBound, abs(response[crest + 1]) > abs(response[crest]) {
      crest += 1
    }
    fit.add(at: Double(crest))
  }
}
