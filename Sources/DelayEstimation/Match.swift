import AudioSpectra
import Glibc

/// The spectra of what was played and of what was recorded around the place where it was found.
struct Match {
  /// A fit, and the part of the spectrum and the noise it was made with.
  struct Outcome {
    var fit: ArrivalFit
    var band: SignalBand
    /// The power at each bin that no arrival explains, evened out.
    var noise: [Double]
  }

  /// One arrival without the others.
  struct Alone {
    /// Its spectrum, without its delay, each frequency weighted so that its correlation with what
    /// was played is the logarithm of the likelihood of each lag.
    var bins: [ComplexFloat]
    /// How much likelier it is with what was played in it, whatever the phase of each part of the
    /// spectrum.
    var likelihood: Double
  }

  /// How well the answer is known.
  struct Quality {
    var signalToNoiseDB: Double
    var boundFrames: Double
  }

  let played: [ComplexFloat]
  let recorded: [ComplexFloat]
  /// Frames of the transform.
  let length: Int
  /// Delays that can be told from the excerpt.
  let lags: Range<Int>
  let score: Double
  private let cross: [ComplexFloat]
  /// The power of what was played at each bin.
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
    playedDensity = PowerDensity(of: played, reach: length / 1024)
    recordedDensity = PowerDensity(of: recorded, reach: length / 1024)
  }

  /// Places the arrivals: first the strongest alone, near a lag in frames, by which band and noise
  /// are found, then with its echoes.
  func fit(
    _ transform: borrowing FourierTransform, _ choice: DelayEstimator.Choice, near middle: Double
  ) -> Outcome? {
    // All that was heard is taken for noise first, so that a hum does not outweigh the signal.
    var first = Arrival(delayFrames: middle, gain: 0)
    let around = band(at: middle)
    var outcome = Outcome(
      fit: weighted(around, noise: recordedDensity.bins, gain: around.gain, first), band: around,
      noise: [])
    outcome.fit.refine()
    for round in 0..<3 {
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
      // The noise must be known before anything is told from it.
      if round > 0 { outcome.fit.explain(transform, within: lags) }
      outcome.fit.prune()
    }
    outcome.noise = unexplained(outcome.fit.arrivals).bins
    return outcome.fit.arrivals.isEmpty ? nil : outcome
  }

  /// How much likelier `frames` frames are with the arrivals in them than as noise, by Whittle's
  /// approximation: a natural logarithm. Where the arrivals make a frequency no likelier, they are
  /// taken not to have come through. (P. Whittle, "Estimation and information in stationary time
  /// series", Arkiv för Matematik 2, 1953.)
  func likelihood(of outcome: Outcome, frames: Int) -> Double {
    let sum = zip(recordedDensity.bins, outcome.noise).reduce(0.0) { sum, powers in
      guard powers.0 > powers.1, powers.1 > 0 else { return sum }
      return sum + log(powers.0 / powers.1)
    }
    return sum * Double(frames) / Double(length)
  }

  /// The recording with all arrivals but the chosen one taken out.
  func alone(_ outcome: Outcome, _ chosen: Int) -> Alone {
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
      recordedPower: bins.map(\.power), length: length, delay: 0,
      parts: max(1, min(512, bins.count / 16)))
    return Alone(bins: bins, likelihood: coherence.likelihood)
  }

  private func band(at delay: Double) -> SignalBand {
    SignalBand(
      cross: cross, power: power, recordedPower: recordedPower, length: length, delay: delay,
      recordedDensity: recordedDensity)
  }

  /// Which arrival is the answer.
  func chosen(from outcome: Outcome, _ choice: DelayEstimator.Choice) -> Int? {
    let arrivals = outcome.fit.arrivals
    let strongest = arrivals.reduce(0) { max($0, abs($1.gain)) }
    switch choice {
    case .strongest:
      return arrivals.indices.max { abs(arrivals[$0].gain) < abs(arrivals[$1].gain) }
    case .first:
      return arrivals.indices.filter { abs(arrivals[$0].gain) >= 0.3 * strongest }
        .min { arrivals[$0].delayFrames < arrivals[$1].delayFrames }
    }
  }

  /// Ratio of powers within the band, and the Cramér-Rao bound that follows from it.
  func quality(_ outcome: Outcome, _ chosen: Int, frames: Int) -> Quality {
    let answer = outcome.fit.arrivals[chosen]
    var signal = 0.0
    var noise = 0.0
    var information = 0.0
    let squaredGain = answer.gain * answer.gain
    // Weighted as the fit was: a stretch that a filter bends is no noise.
    let floor = 0.01 * SpectrumPart.leastNoise * squaredGain * playedDensity.mean
    for bin in 1..<max(2, power.count - 1) where outcome.band.bins[bin] {
      let frequency = 2 * Double.pi * Double(bin) / Double(length)
      let recordedPower = squaredGain * Double(power[bin])
      let weight =
        1
        / (outcome.noise[bin] + SpectrumPart.leastNoise * squaredGain * playedDensity.bins[bin]
          + floor)
      signal += weight * recordedPower
      noise += weight * outcome.noise[bin]
      information += frequency * frequency * recordedPower / max(outcome.noise[bin], 1e-30)
    }
    // The excerpt is longer than the signal, and so holds more noise than sounded with it.
    noise *= Double(frames) / Double(lags.upperBound - 1 + frames)
    let ratio = noise > 0 && signal > 0 ? 10 * log10(signal / noise) : 200
    return Quality(
      signalToNoiseDB: min(200, ratio),
      boundFrames: information > 0
        ? outcome.fit.inflation(of: chosen) / (2 * information).squareRoot() : .infinity)
  }

  /// A fit whose bins count by how little noise they have, down to what matters beside the signal.
  private func weighted(
    _ band: SignalBand, noise: [Double], gain: Double, _ first: Arrival
  ) -> ArrivalFit {
    let ample = SpectrumPart.leastNoise * gain * gain
    let weights = power.indices.map { bin in
      guard band.bins[bin] else { return Float(0) }
      let clutter = noise[bin] + ample * (playedDensity.bins[bin] + 0.01 * playedDensity.mean)
      return clutter > 0 ? Float(1 / clutter) : 0
    }
    // Kept near one, so that single precision suffices whatever the levels are.
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
    return PowerDensity(of: rest.bins, reach: length / 1024)
  }

  /// Puts an arrival where the response first rises, if that is before all others.
  private func addFirstArrival(
    _ fit: inout ArrivalFit, _ transform: borrowing FourierTransform
  ) {
    var whole = fit
    whole.arrivals = []
    let response = whole.unexplained(transform)
    let highest = lags.reduce(Float(0)) { max($0, abs(response[$1])) }
    let floor = max(0.3 * highest, 6 * Float(ArrivalFit.deviation(of: response)))
    guard let rise = lags.first(where: { abs(response[$0]) >= floor }) else { return }
    // From the rise to its crest.
    var crest = rise
    while crest + 1 < lags.upperBound, abs(response[crest + 1]) > abs(response[crest]) {
      crest += 1
    }
    fit.add(at: Double(crest))
  }
}
