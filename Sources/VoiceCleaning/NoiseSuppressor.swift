import AudioBasics
import AudioSpectra

/// Reduces stationary noise in one channel by up to 24 dB, with Wiener's rule for the gain of each
/// bin. The output is one block late.
final class NoiseSuppressor {
  /// The lowest gain.
  private static let floor = Gain(decibels: -24)
  /// The ratio of the removed to the mean noise power. Noise varies, and the remains of its peaks
  /// are audible as musical noise.
  private static let excess: Float = 1.1

  /// The spectrum that is suppressed, and its noise.
  let analysis: NoiseAnalysis
  private var suppression: SuppressionGain

  init(blockFrames: Int, sampleRate: Int) throws(CleaningFailure) {
    analysis = try NoiseAnalysis(blockFrames: blockFrames, sampleRate: sampleRate)
    suppression = SuppressionGain(
      floor: Self.floor, isTwoStep: true,
      blockSeconds: Double(blockFrames) / Double(sampleRate), binHertz: analysis.binHertz,
      binCount: analysis.power.count)
  }

  /// Adds a block and replaces it by the previous block with less noise. Samples beyond full scale
  /// are clipped.
  func run(_ block: inout [Float]) {
    Self.bound(&block)
    analysis.add(block)
    suppression.update(
      power: analysis.power, unwanted: analysis.noise.power, part: Self.excess)
    analysis.synthesise(suppression.gains, &block)
    Self.bound(&block)
  }

  private static func bound(_ block: inout [Float]) {
    for index in 0..<block.count { block[index] = max(-1, min(1, block[index])) }
  }
}
