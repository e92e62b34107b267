import AudioBasics
import Glibc

/// The gain of each bin that takes out what is unwanted of its power, by Wiener's rule: what is
/// wanted over all there is.
///
/// What is wanted is mostly what was let through before, and a little what the bin now has beyond
/// the unwanted: decision-directed (Ephraim, Malah, "Speech Enhancement Using a Minimum Mean-Square
/// Error Short-Time Spectral Amplitude Estimator", 1984). So single bins do not flicker, which would
/// be heard as musical noise; the floor hides what flickers nevertheless.
struct SuppressionGain {
  /// How long it takes to forget what was let through, in seconds, to a ratio of 1 / e.
  private static let memorySeconds = 0.05

  /// The gain of each bin.
  private(set) var gains: [Float]
  private let floor: Float
  private let memory: Float
  /// The power of each bin that was let through.
  private var passed: [Float]

  /// Lowers nothing below `floor`.
  init(floor: Gain, blockSeconds: Double, binCount: Int) {
    self.floor = floor.factor
    memory = Float(exp(-blockSeconds / Self.memorySeconds))
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
      let gain = max(floor, wanted / (wanted + unwanted))
      gains[bin] = gain
      passed[bin] = gain * gain * power[bin]
    }
  }
}
