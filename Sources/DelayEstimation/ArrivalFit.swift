import AudioSpectra
import Glibc

/// Models a recording as arrivals of one known signal, each with its own delay and gain, so that an
/// echo does not bias the delay of the direct sound.
///
/// Arrivals are found one after the other in the residual of the others, as in the RELAX algorithm
/// (J. Li and P. Stoica, "Efficient mixed-spectrum estimation with applications to target feature
/// extraction", IEEE Trans. Signal Processing 44, 1996). All arrivals are fitted together by least
/// squares with the Levenberg-Marquardt method, because an echo a few frames away is too near for a
/// separate fit of each arrival.
struct ArrivalFit {
  /// The weighted cross-correlation of recording and reference.
  let cross: CorrelationFunction
  /// The weighted autocorrelation of the reference.
  let own: CorrelationFunction
  /// The weighted power of the reference at each bin.
  let energy: [Float]
  private let energySum: Double
  /// The width of a correlation peak in frames.
  let lobe: Double
  /// The factor that scales the weights to about 1. The weights divided by it are the inverse of
  /// the noise.
  let weightScale: Double
  /// The distance in frames below which two arrivals count as one. In a full band, two nearer
  /// arrivals cannot be distinguished from one arrival whose treble is missing.
  private let resolution: Double
  /// The least gain of an arrival within the ripple around the strongest one, relative to its gain.
  /// The slopes at the edges of a partial band cause ripple that looks like arrivals.
  private let minimumShareInRipple: Double
  /// The arrivals found so far.
  var arrivals: [Arrival]

  private static let maximumArrivals = 6
  /// The least gain of an arrival relative to that of the strongest.
  private static let minimumShare = 0.04
  /// The natural logarithm of likelihood, summed over the bins of the padded transform, that an
  /// arrival at a given lag must add; chosen with `Benchmarks by-ear`.
  private static let decisive = 10.0
  /// The reach of the ripple around an arrival, in widths of a peak.
  private static let rippleLobes = 2.0

  init(
    cross: CorrelationFunction, energy: [Float], weightScale: Double, bandShare: Double,
    first: Arrival
  ) {
    self.weightScale = weightScale
    self.cross = cross
    self.energy = energy
    own = CorrelationFunction(bins: energy.map { ComplexFloat($0, 0) }, length: cross.length)
    energySum = own.point(at: 0).value
    lobe = 1 / max(bandShare, 1e-3)
    resolution = lobe * (bandShare > 0.85 ? 0.8 : 0.3)
    minimumShareInRipple = bandShare > 0.85 ? Self.minimumShare : 0.1
    arrivals = []
    let gain = first.gain == 0 ? gain(at: first.delayFrames) : first.gain
    arrivals = [Arrival(delayFrames: first.delayFrames, gain: gain)]
  }

  /// Fits delays and gains of all arrivals together.
  mutating func refine() {
    guard energySum > 0 else { return }
    var damping = 1e-4
    var equations = ArrivalEquations(self)
    for _ in 0..<40 {
      guard let step = equations.step(damping: damping) else { return }
      var trial = self
      let longest = step.delays.reduce(0) { max($0, abs($1)) }
      let share = longest > 0.4 * resolution ? 0.4 * resolution / longest : 1
      for index in arrivals.indices {
        trial.arrivals[index].gain += share * step.gains[index]
        trial.arrivals[index].delayFrames += share * step.delays[index]
      }
      let next = ArrivalEquations(trial)
      if next.cost <= equations.cost {
        self = trial
        equations = next
        damping = max(1e-9, damping / 10)
        if longest < 1e-7 { return }
      } else {
        damping *= 10
        if damping > 1e6 { return }
      }
    }
  }

  /// Returns the factor by which nearby arrivals increase the deviation of the delay of an arrival.
  func inflation(of index: Int) -> Double {
    ArrivalEquations(self).inflation(of: index)
  }

  /// Returns the best gain for an arrival at `delay`, given the present arrivals.
  private func gain(at delay: Double) -> Double {
    var value = cross.point(at: delay).value
    for arrival in arrivals {
      value -= arrival.gain * own.point(at: delay - arrival.delayFrames).value
    }
    return energySum > 0 ? value / energySum : 0
  }

  /// Returns the part of the impulse response that the arrivals do not explain.
  func unexplained(_ transform: borrowing FourierTransform) -> [Float] {
    var left = cross
    for arrival in arrivals {
      left.subtract(gain: arrival.gain, at: arrival.delayFrames, energy: energy)
    }
    let scale = energySum > 0 ? Float(Double(transform.length) / 2 / energySum) : 0
    return transform.signal(of: left.bins).map { $0 * scale }
  }

  /// Adds arrivals within `lags` as long as one increases the likelihood decisively, allowing for
  /// the number of possible lags. Only the likelihood separates echoes of music from each other's
  /// ripple.
  mutating func explain(_ transform: borrowing FourierTransform, within lags: Range<Int>) {
    while arrivals.count < Self.maximumArrivals {
      let strongest = strongest
      guard let peak = highest(unexplained(transform), within: lags) else { return }
      let minimum = weightScale * (Self.decisive + log(Double(lags.count)))
      let cost = ArrivalEquations(self).cost
      let echo = adding(at: peak.delay)
      let isStrong = peak.height > minimumShareInRipple * abs(strongest.gain)
      guard isStrong || cost - echo.cost > minimum else { return }
      // If two arrivals overlap, the residual of one of them peaks beside the other, so positions
      // beside the strongest arrival are tried as well.
      let beside = isStrong ? [-0.9, -0.5, 0.5, 0.9] : [-0.5, 0.5]
      let trials = beside.map { adding(at: strongest.delayFrames + $0 * lobe) } + [echo]
      guard let best = trials.min(by: { $0.cost < $1.cost }),
        best.fit.arrivals.count > arrivals.count, cost - best.cost > minimum,
        // So low a peak is an echo only if it is found at its own position. A slope of the band is
        // explained better by an arrival beside the strongest.
        isStrong || echo.cost <= best.cost
      else { return }
      self = best.fit
    }
  }

  /// Returns the fit with one more arrival, and its cost.
  private func adding(at delay: Double) -> (fit: ArrivalFit, cost: Double) {
    var trial = self
    trial.add(at: delay)
    return (trial, ArrivalEquations(trial).cost)
  }

  private var strongest: Arrival {
    arrivals.max { abs($0.gain) < abs($1.gain) } ?? Arrival(delayFrames: 0, gain: 0)
  }

  /// Returns the least gain of an arrival at `delay`, relative to the strongest arrival. An echo
  /// comes after the direct sound. An earlier arrival is ripple, unless it is strong.
  private func minimumGain(at delay: Double, beside strongest: Arrival) -> Double {
    let isEcho = delay > strongest.delayFrames + Self.rippleLobes * lobe
    return abs(strongest.gain) * (isEcho ? Self.minimumShare : minimumShareInRipple)
  }

  /// Returns the lag and the height of the highest value of `response` that is not an arrival yet,
  /// or nil if none is high enough.
  private func highest(_ response: [Float], within lags: Range<Int>) -> (
    delay: Double, height: Double
  )? {
    let strongest = strongest
    var best: (lag: Int, height: Double)?
    for lag in lags {
      let height = Double(abs(response[lag >= 0 ? lag : lag + response.count]))
      guard
        height > max(minimumGain(at: Double(lag), beside: strongest), best?.height ?? 0),
        !arrivals.contains(where: { abs($0.delayFrames - Double(lag)) < resolution })
      else { continue }
      best = (lag, height)
    }
    return best.map { (Double($0.lag), $0.height) }
  }

  /// Adds an arrival at `delay` and fits all arrivals, unless one is there already.
  mutating func add(at delay: Double) {
    guard !arrivals.contains(where: { abs($0.delayFrames - delay) < resolution }) else { return }
    arrivals.append(Arrival(delayFrames: delay, gain: gain(at: delay)))
    refine()
  }

  /// Removes arrivals that are too faint compared with the strongest, and sorts the others by gain.
  mutating func prune() {
    let count = arrivals.count
    let strongest = strongest
    arrivals = arrivals.filter {
      abs($0.gain) >= minimumGain(at: $0.delayFrames, beside: strongest)
    }
    arrivals.sort { abs($0.gain) > abs($1.gain) }
    // Of two arrivals that converged to the same delay, keep the stronger.
    for index in arrivals.indices.dropFirst().reversed()
    where arrivals[..<index].contains(where: {
      abs($0.delayFrames - arrivals[index].delayFrames) < resolution
    }) {
      arrivals.remove(at: index)
    }
    if arrivals.count < count { refine() }
  }

  /// Returns the standard deviation of normal noise from its samples. A few peaks do not affect it.
  static func deviation(of samples: [Float]) -> Double {
    guard !samples.isEmpty else { return 0 }
    // A few thousand samples are enough.
    let stride = max(1, samples.count / 4096)
    let magnitudes = Swift.stride(from: 0, to: samples.count, by: stride).map {
      abs(samples[$0])
    }.sorted()
    return Double(magnitudes[magnitudes.count / 2]) / 0.6745
  }
}

/// The normal equations of an `ArrivalFit` at its present values: gains first, then delays.
struct ArrivalEquations {
  /// The sum of the squared residuals, less the part that does not depend on the fit.
  let cost: Double
  private let matrix: [[Double]]
  private let gradient: [Double]

  private var count: Int { gradient.count / 2 }

  init(_ fit: ArrivalFit) {
    let arrivals = fit.arrivals
    let count = arrivals.count
    var matrix = [[Double]](
      repeating: [Double](repeating: 0, count: 2 * count), count: 2 * count)
    var gradient = [Double](repeating: 0, count: 2 * count)
    var cost = 0.0
    for (one, arrival) in arrivals.enumerated() {
      let point = fit.cross.point(at: arrival.delayFrames)
      gradient[one] += point.value
      gradient[count + one] += arrival.gain * point.slope
      cost -= 2 * arrival.gain * point.value
      for (two, other) in arrivals.enumerated() where two >= one {
        let own = fit.own.point(at: arrival.delayFrames - other.delayFrames)
        let both = one == two ? 1.0 : 2.0
        cost += both * arrival.gain * other.gain * own.value
        gradient[one] -= other.gain * own.value
        gradient[count + one] -= arrival.gain * other.gain * own.slope
        if two != one {
          // The autocorrelation of the reference is even, and its slope is odd.
          gradient[two] -= arrival.gain * own.value
          gradient[count + two] += arrival.gain * other.gain * own.slope
        }
        matrix[one][two] = own.value
        matrix[two][one] = own.value
        matrix[one][count + two] = -other.gain * own.slope
        matrix[count + two][one] = matrix[one][count + two]
        matrix[two][count + one] = arrival.gain * own.slope
        matrix[count + one][two] = matrix[two][count + one]
        matrix[count + one][count + two] = -arrival.gain * other.gain * own.curvature
        matrix[count + two][count + one] = matrix[count + one][count + two]
      }
    }
    self.cost = cost
    self.matrix = matrix
    self.gradient = gradient
  }

  /// Returns the least-squares change of gains and delays, reduced by `damping`, or nil if the
  /// equations have no solution.
  func step(damping: Double) -> (gains: [Double], delays: [Double])? {
    var damped = matrix
    for index in damped.indices { damped[index][index] *= 1 + damping }
    guard let change = Self.solve(damped, gradient) else { return nil }
    return (Array(change[..<count]), Array(change[count...]))
  }

  /// Returns the factor by which the deviation of a delay exceeds that of a single arrival.
  func inflation(of index: Int) -> Double {
    var unit = [Double](repeating: 0, count: gradient.count)
    unit[count + index] = 1
    guard let column = Self.solve(matrix, unit) else { return .infinity }
    return max(1, column[count + index] * matrix[count + index][count + index]).squareRoot()
  }

  /// Solves the equations by Gauss-Jordan elimination with partial pivoting. Rows and columns are
  /// scaled to ones on the diagonal. Returns nil if there is no solution.
  private static func solve(_ matrix: [[Double]], _ right: [Double]) -> [Double]? {
    let size = right.count
    let scale: [Double] = (0..<size).map { index -> Double in
      matrix[index][index] > 0 ? 1 / matrix[index][index].squareRoot() : 0
    }
    guard !scale.contains(0) else { return nil }
    // The types are explicit, because the compiler took 15 s to infer them.
    var rows: [[Double]] = (0..<size).map { row -> [Double] in
      var scaled: [Double] = (0..<size).map { place -> Double in
        matrix[row][place] * scale[row] * scale[place]
      }
      scaled.append(right[row] * scale[row])
      return scaled
    }
    for column in 0..<size {
      let pivot =
        (column..<size).max { rows[$0][column].magnitude < rows[$1][column].magnitude } ?? column
      guard rows[pivot][column].magnitude > 1e-12 else { return nil }
      rows.swapAt(column, pivot)
      for row in 0..<size where row != column {
        let factor = rows[row][column] / rows[column][column]
        for place in column...size { rows[row][place] -= factor * rows[column][place] }
      }
    }
    let solution: [Double] = (0..<size).map { row -> Double in
      rows[row][size] / rows[row][row] * scale[row]
    }
    return solution.contains { !$0.isFinite } ? nil : solution
  }
}
