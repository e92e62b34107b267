import AudioBasics
import Glibc

/// The gain of each bin that removes an unwanted part of its power, by Wiener's rule: the wanted
/// power over the total power.
///
/// The wanted power is mainly the power passed before, plus a small part of the bin's present power
/// beyond the unwanted power: decision-directed estimation (Ephraim, Malah, "Speech Enhancement
/// Using a Minimum Mean-Square Error Short-Time Spectral Amplitude Estimator", 1984). This prevents
/// fluctuations of single bins, which would be audible as musical noise. The floor masks the
/// remaining fluctuations.
///
/// This estimate is one block late at the beginning or end of a sound. As an optional second step,
/// the power that these gains would pass of the present block is used as the wanted power (Plapous,
/// Marro, Scalart, "Improved Signal-to-Noise Ratio Estimation for Speech Enhancement", 2006),
/// averaged over neighbouring bins, which fluctuates less.
struct SuppressionGain {
  /// The time constant of the passed power, in seconds to a ratio of 1 / e.
  private static let memorySeconds = 0.05
  /// The reach of the average over neighbouring bins to each side, in hertz: below `treble`, where
  /// harmonics are resolved, and above it.
  private static let (bassReach, trebleReach, treble) = (25.0, 75.0, 2000.0)

  /// The gain of each bin.
  private(set) var gains: [Float]
  private let floor: Float
  private let memory: Float
  private let isTwoStep: Bool
  /// The bin at `treble`, and the reach in bins below and above it.
  private let trebleBin: Int
  private let (bassBins, trebleBins): (Int, Int)
  /// The passed power of each bin.
  private var passed: [Float]

  /// Creates gains that are never below `floor`, with the second step if `isTwoStep`.
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

  /// Updates the gains from the total power of a block's bins, none of which may be zero, and its
  /// unwanted power. `part` is the fraction of the unwanted power that is removed, and may exceed
  /// 1.
  mutating func update(power: [Float], unwanted: [Float], part: Float) {
    for bin in 0..<gains.count {
      let unwanted = part * unwanted[bin]
      let beyond = max(0, power[bin] - unwanted)
      let wanted = memory * passed[bin] + (1 - memory) * beyond
      gains[bin] = max(floor, wanted / (wanted + unwanted))
    }
    updatePassedPower(power)
    guard isTwoStep else { return }
    for bin in 0..<gains.count {
      let wanted = passed.mean(around: bin, reach: bin < trebleBin ? bassBins : trebleBins)
      gains[bin] = max(floor, wanted / (wanted + part * unwanted[bin]))
    }
    updatePassedPower(power)
  }

  private mutating func updatePassedPower(_ power: [Float]) {
    for bin in 0..<gains.count { passed[bin] = gains[bin] * gains[bin] * power[bin] }
  }
}

extension [Float] {
  /// Returns the mean of an element and up to `reach` elements to each side.
  func mean(around index: Int, reach: Int) -> Float {
    let bounds = Swift.max(0, index - reach)...Swift.min(count - 1, index + reach)
    var sum: Float = 0
    for neighbour in bounds { sum += self[neighbour] }
    return sum / Float(bounds.count)
  }
}
