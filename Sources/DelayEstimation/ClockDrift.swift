import AudioSpectra
import Glibc

/// The drift between two clocks: the frames by which a signal is longer in a recording than in its
/// reference, since two clocks never run at exactly the same rate.
///
/// Delay and drift are searched together. The reference is divided into segments, each segment is
/// correlated with the recording, and the sum of these correlations along straight lines of delay
/// over time is largest at the correct delay and drift. A sweep requires this, because its delay
/// looks like drift and vice versa.
struct ClockDrift {
  /// The drift in frames: the delay of the last frame less the delay of the first.
  let frames: Double
  /// The standard deviation of the drift, in frames. Infinite if it is unknown.
  let deviation: Double
  /// Whether the drift exceeds chance, and the apparent drift that echoes cause.
  let isSignificant: Bool
  /// Whether the drift exceeds the effect of noise. An echo may have caused it.
  let isMeasured: Bool

  /// The largest relative drift that is searched for. The error of a crystal is at most 100 ppm.
  private static let maximumRate = 2.5e-4

  private init(frames: Double, deviation: Double, isSignificant: Bool, isMeasured: Bool) {
    self.frames = frames
    self.deviation = deviation
    self.isSignificant = isSignificant
    self.isMeasured = isMeasured
  }

  /// Measures the drift of `reference` in the result of `search`.
  init?(_ reference: Span<Float>, _ search: ArrivalSearch) {
    let maximum = Int(clamping: (Self.maximumRate * Double(reference.count)).rounded(.up))
    let coarse =
      SegmentCorrelations(
        reference, search.weightedRecording, lag: search.lag, reach: maximum + 32)?.bestDrift(
        maximum: maximum) ?? 0
    if coarse != 0 {
      self.init(frames: Double(coarse), deviation: 0.5, isSignificant: true, isMeasured: true)
      return
    }
    self.init(reference, weighted: search.weightedRecording, lag: search.lag, farthest: 2)
  }

  /// Measures the drift of `reference` in a weighted recording, near `lag`. The correlation of the
  /// recording with the reference must be the logarithm of the likelihood of each lag. The drift is
  /// limited to `farthest` frames. Returns nil if there is no peak.
  init?(_ reference: Span<Float>, weighted recording: [Float], lag: Int, farthest: Double) {
    guard let transform = FourierTransform(atLeast: recording.count) else {
      return nil
    }
    // One step of Newton's method on the likelihood as a function of delay and drift. The peak is
    // near.
    let spectrum = transform.spectrum(of: recording.span)
    let slope = Self.derivative(spectrum, transform)
    let curvature = Self.derivative(slope, transform)
    let slopes = transform.signal(of: slope)
    let curvatures = transform.signal(of: curvature)
    var gradient = (delay: 0.0, drift: 0.0)
    var matrix = (delay: 0.0, both: 0.0, drift: 0.0)
    var height = 0.0
    let count = slopes.count
    for frame in reference.indices {
      let place = ((frame + lag) % count + count) % count
      let time = Double(frame) / Double(reference.count)
      let along = Double(reference[frame] * slopes[place])
      let bend = Double(reference[frame] * curvatures[place])
      gradient.delay += along
      gradient.drift += along * time
      matrix.delay += bend
      matrix.both += bend * time
      matrix.drift += bend * time * time
      height += Double(reference[frame] * recording[place])
    }
    let sign = height < 0 ? -1.0 : 1.0
    let determinant = matrix.delay * matrix.drift - matrix.both * matrix.both
    guard sign * matrix.delay < 0, determinant > 0 else { return nil }
    let step = (matrix.both * gradient.delay - matrix.delay * gradient.drift) / determinant
    let scale = Double(count) / 2
    frames = max(-farthest, min(farthest, step))
    deviation = (abs(matrix.delay) / determinant / scale).squareRoot()
    // Echoes and filters distort a signal differently as it changes.
    let likelier = step * step / (2 * deviation * deviation)
    isMeasured = abs(step) > 0.1 && likelier > 10
    isSignificant = abs(step) > 0.1 && likelier > 18 + 0.001 * abs(height) * scale
  }

  /// Returns the spectrum of the derivative of a signal.
  private static func derivative(
    _ spectrum: [ComplexFloat], _ transform: borrowing FourierTransform
  ) -> [ComplexFloat] {
    let unit = 2 * Float.pi / Float(transform.length)
    return spectrum.indices.map { bin in
      let frequency = unit * Float(bin)
      return ComplexFloat(-frequency * spectrum[bin].imaginary, frequency * spectrum[bin].real)
    }
  }

  /// Returns `signal` lengthened by `frames` frames. Each frame is interpolated from its neighbours
  /// by a sinc with a squared-cosine window.
  static func stretched(_ signal: Span<Float>, by frames: Double) -> [Float] {
    let reach = 24
    let ratio = 1 + frames / Double(signal.count)
    let count = Int(rounding: Double(signal.count) * ratio)
    return (0..<count).map { frame in
      let position = Double(frame) / ratio
      let before = position.rounded(.down)
      let part = position - before
      let middle = Int(clamping: before)
      guard part > 1e-9 else { return signal.indices.contains(middle) ? signal[middle] : 0 }
      let sine = sin(Double.pi * part) / Double.pi
      var sum = 0.0
      for tap in max(1 - reach, -middle)...max(1 - reach, min(reach, signal.count - 1 - middle)) {
        let distance = Double(tap) - part
        guard signal.indices.contains(middle + tap) else { continue }
        // cos(x)^2 for x within a quarter turn, approximated by its first terms.
        let place = distance / Double(reach + 1)
        let square = place * place
        let window = (1 - square) * (1 - square)
        sum += Double(signal[middle + tap]) * window * (tap % 2 == 0 ? -sine : sine) / distance
      }
      return Float(sum)
    }
  }
}

/// The correlations of short segments of a reference with the recording, around one lag.
private struct SegmentCorrelations {
  /// One row per segment, indexed by lag.
  private var rows: [[Float]] = []
  /// The relative position of the middle of each segment in the reference, from 0 to 1.
  private var times: [Double] = []
  private let reach: Int
  /// The factor that converts a sum to a logarithm of likelihood.
  private let scale: Double

  init?(_ reference: Span<Float>, _ recording: [Float], lag: Int, reach: Int) {
    guard let segments = ReferenceSegments(frames: reference.count, reach: reach) else {
      return nil
    }
    self.reach = reach
    scale = Double(recording.count) / 2
    let count = recording.count
    for frames in segments.ranges(of: reference.count) {
      let (played, recorded) = segments.spectra(frames, of: reference, lag: lag) {
        recording[($0 % count + count) % count]
      }
      rows.append(
        segments.transform.signal(
          of: played.indices.map { recorded[$0] * played[$0].conjugate }))
      times.append(
        (Double(frames.lowerBound) + Double(frames.count) / 2) / Double(reference.count))
    }
  }

  /// Returns the drift in frames over the whole reference that explains the recording best. Returns
  /// 0 unless another drift is clearly better.
  func bestDrift(maximum: Int) -> Int {
    var best = (drift: 0, height: highest(drift: 0))
    let steady = best.height
    for drift in -maximum...maximum where drift != 0 {
      let height = highest(drift: drift)
      if height > best.height { best = (drift, height) }
    }
    return best.height > 1.005 * steady + 30 ? best.drift : 0
  }

  private func highest(drift: Int) -> Double {
    var sums = [Float](repeating: 0, count: 2 * reach + 1)
    for (row, time) in zip(rows, times) {
      let shift = Int(rounding: Double(drift) * time)
      for place in max(0, -shift)..<min(sums.count, sums.count - shift) {
        sums[place] += row[place + shift]
      }
    }
    return scale * Double(sums.reduce(0) { max($0, abs($1)) })
  }
}
