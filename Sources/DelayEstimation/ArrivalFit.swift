import AudioSpectra

/// Explains a recording by arrivals of one known signal, each with its own delay and gain, so that
/// an echo does not pull at the delay of the direct sound.
///
/// Every arrival is fitted in turn to what the others leave, until none moves any more: the RELAX
/// algorithm (J. Li and P. Stoica, "Efficient mixed-spectrum estimation with applications to target
/// feature extraction", IEEE Trans. Signal Processing 44, 1996), least squares in the end.
struct ArrivalFit {
  /// The weighted correlation of recording and reference.
  let cross: CorrelationFunction
  /// The reference's own.
  let own: CorrelationFunction
  /// The reference's weighted power at each bin.
  let energy: [Float]
  private let energySum: Double
  /// Frames below which two arrivals are one.
  private let resolution: Double
  /// The arrivals found so far.
  var arrivals: [Arrival]

  private static let mostArrivals = 6

  init(cross: CorrelationFunction, energy: [Float], bandShare: Double, first: Arrival) {
    self.cross = cross
    self.energy = energy
    own = CorrelationFunction(bins: energy.map { Complex($0, 0) }, length: cross.length)
    energySum = own.point(at: 0).value
    resolution = 1.2 / max(bandShare, 1e-3)
    arrivals = [first]
  }

  /// Fits every arrival to what the others leave, until none moves by more than a millionth of a
  /// frame, or ten times.
  mutating func refine() {
    guard energySum > 0 else { return }
    for _ in 0..<10 {
      var moved = 0.0
      for index in arrivals.indices {
        let before = arrivals[index].delayFrames
        refine(index)
        moved = max(moved, abs(arrivals[index].delayFrames - before))
      }
      if arrivals.count == 1 || moved < 1e-6 { return }
    }
  }

  private mutating func refine(_ index: Int) {
    var delay = arrivals[index].delayFrames
    var point = rest(at: delay, without: index)
    let sign = point.value < 0 ? -1.0 : 1.0
    for _ in 0..<12 {
      // Newton's step where the peak is near; else a little uphill.
      let slope = sign * point.slope
      let curvature = sign * point.curvature
      let step =
        curvature < 0 ? max(-0.25, min(0.25, -slope / curvature)) : slope > 0 ? 0.1 : -0.1
      delay += step
      point = rest(at: delay, without: index)
      if abs(step) < 1e-6 { break }
    }
    arrivals[index] = Arrival(delayFrames: delay, gain: point.value / energySum)
  }

  /// The correlation at `delay` less what all arrivals but one add to it.
  private func rest(at delay: Double, without left: Int) -> CorrelationFunction.Point {
    var point = cross.point(at: delay)
    for (index, arrival) in arrivals.enumerated() where index != left {
      let other = own.point(at: delay - arrival.delayFrames)
      point.value -= arrival.gain * other.value
      point.slope -= arrival.gain * other.slope
      point.curvature -= arrival.gain * other.curvature
    }
    return point
  }

  /// What the arrivals leave unexplained of the response to a single sample.
  func unexplained(_ transform: borrowing FourierTransform) -> [Float] {
    var left = cross
    for arrival in arrivals {
      left.subtract(gain: arrival.gain, at: arrival.delayFrames, energy: energy)
    }
    let scale = energySum > 0 ? Float(Double(transform.length) / 2 / energySum) : 0
    return transform.signal(of: left.bins).map { $0 * scale }
  }

  /// Adds arrivals as long as one stands out, by at least `share` of the strongest, within `lags`.
  mutating func explain(
    _ transform: borrowing FourierTransform, within lags: Range<Int>, share: Double
  ) {
    while arrivals.count < Self.mostArrivals {
      let response = unexplained(transform)
      let strongest = arrivals.reduce(0) { max($0, abs($1.gain)) }
      let floor = max(8 * Self.deviation(of: response), share * strongest)
      var best: (lag: Int, height: Double)?
      for lag in lags {
        let value = response[lag >= 0 ? lag : lag + response.count]
        let height = Double(abs(value))
        guard height > max(floor, best?.height ?? 0),
          !arrivals.contains(where: { abs($0.delayFrames - Double(lag)) < resolution })
        else { continue }
        best = (lag, height)
      }
      guard let best else { return }
      add(at: Double(best.lag))
    }
  }

  /// Adds an arrival at `delay` and fits it, unless one is there already.
  mutating func add(at delay: Double) {
    guard !arrivals.contains(where: { abs($0.delayFrames - delay) < resolution }) else { return }
    arrivals.append(Arrival(delayFrames: delay, gain: 0))
    refine(arrivals.count - 1)
    refine()
  }

  /// Leaves out arrivals with less than `share` of the strongest's gain; sorts the rest by gain.
  mutating func prune(below share: Double) {
    let strongest = arrivals.reduce(0) { max($0, abs($1.gain)) }
    let count = arrivals.count
    arrivals.removeAll { abs($0.gain) < share * strongest }
    arrivals.sort { abs($0.gain) > abs($1.gain) }
    if arrivals.count < count { refine() }
  }

  /// The standard deviation of normal noise of which these are samples, some peaks left aside.
  static func deviation(of samples: [Float]) -> Double {
    guard !samples.isEmpty else { return 0 }
    // A few thousand tell it well enough.
    let stride = max(1, samples.count / 4096)
    let magnitudes = Swift.stride(from: 0, to: samples.count, by: stride).map {
      abs(samples[$0])
    }.sorted()
    return Double(magnitudes[magnitudes.count / 2]) / 0.6745
  }
}
