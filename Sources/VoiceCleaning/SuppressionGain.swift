import AudioBasics
import Glibc

/// The gain of each bin that takes out what is unwanted of its power, by Wiener's rule: what is
/// wanted over all there is.
///
/// What is wanted is mostly what was let through before, and a little what the bin now has beyond
/// the unwanted: decision-directed (Ephraim, Malah, "Speech Enhancement Using a Minimum Mean-Square
/// Error Short-Time Spectral Amplitude Estimator", 1984). So single bins do not flicker, which
/// would be heard as musical noise; the floor hides what flickers nevertheless.
///
/// That is a block late where a sound begins or ends. So what these gains would let through of the
/// block itself may be taken for what is wanted, in a second step (Plapous, Marro, Scalart,
/// "Improved Signal-to-Noise Ratio Estimation for Speech Enhancement", 2006): as the mean of
/// neighbouring bins, which flickers less.
struct SuppressionGain {
  /// How long it takes to forget what was let through, in seconds, to a ratio of 1 / e.
  private static let memorySeconds = 0.05
  /// How far neighbouring bins are averaged to each side: up to `treble`, where harmonics are told
  /// apart, and above; in hertz.
  private static let (bassReach, trebleReach, treble) = (25.0, 75.0, 2000.0)

  /// The gain of each bin.
  private(set) var gains: [Float]
  private let floor: Float
  private let memory: Float
  private let isTwoStep: Bool
  /// Bins up to `treble`, and bins to each side, up to there and above.
  private let trebleBin: Int
  private let (bassBins, trebleBins): (Int, Int)
  /// The power of each bin that was let through.
  private var passed: [Float]

  /// Lowers nothing below `floor`; takes the second step if it `isTwoStep`.
  init(
    floor: Gain, isTwoStep: Bool, blockSeconds: Double, binHertz: Double, binCount: Int
  ) {
    self.isTwoStep = isTwoStep
    self.floor = floor.factor
    memory = Float(exp(-blockSeconds / Self.memorySeconds))
    trebleBin = Int(rounding: Self.treble / binHertz)
    bassBins = Int(rounding: Self.bassReach / binHertz)
    trebleBins = Int(rounding: Self.trebleReach / binHertz)
    gains = Array(repeating: 1, count: binCount)
    passed = Array(repeating: 0, count: binCount)
  }

  /// Takes in all the power of a block's bins, of which none is zero, and what is unwanted of it,
  /// of which a `part` is taken out, or more than all of it.
  mutating func update(power: [Float], unwanted: [Float], part: Float) {
    for bin in 0..<gains.count {
      let unwanted = part * unwanted[bin]
      let beyond = max(0, power[bin] - unwanted)
      let wanted = memory * passed[bin] + (1 - memory) * beyond
      gains[bin] = max(floor, wanted / (wanted + unwanted))
    }
    letThrough(power)
    guard isTwoStep else { return }
    for bin in 0..<gains.count {
      let wanted = passed.mean(around: bin, reach: bin < trebleBin ? bassBins : trebleBins)
      gains[bin] = max(floor, wanted / (wanted + part * unwanted[bin]))
    }
    letThrough(power)
  }

  private mutating func letThrough(_ power: [Float]) {
    for bin in 0..<gains.count { passed[bin] = gains[bin] * gains[bin] * power[bin] }
  }
}

extension [Float] {
  /// The mean of an element and up to `reach` to each side.
  func mean(around index: Int, reach: Int) -> Float {
    let bounds = Swift.max(0, index - reach)...Swift.min(count - 1, index + reach)
    var sum: Float = 0
    for neighbour in bounds { sum += self[neighbour] }
    return sum / Float(bounds.count)
  }
}
