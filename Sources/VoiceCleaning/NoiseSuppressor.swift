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

  private var transform: BlockTransform
  private var state: BlockTransform.ChannelState
  private var power: [Float]
  private var noise: NoiseEstimate
  private var suppression: SuppressionGain

  init(blockFrames: Int, sampleRate: Int) throws(CleaningFailure) {
    let transform = try BlockTransform(blockFrames: blockFrames, sampleRate: sampleRate)
    let blockSeconds = Double(blockFrames) / Double(sampleRate)
    let binCount = transform.binCount
    state = transform.makeChannelState()
    power = Array(repeating: 0, count: binCount)
    let binHertz = Double(sampleRate) / Double(transform.length)
    noise = NoiseEstimate(blockSeconds: blockSeconds, binHertz: binHertz, binCount: binCount)
    suppression = SuppressionGain(
      floor: Self.floor, isTwoStep: true, blockSeconds: blockSeconds, binHertz: binHertz,
      binCount: binCount)
    self.transform = transform
  }

  /// Adds a block and replaces it by the previous block with less noise. Samples beyond full scale
  /// are clipped.
  func run(_ block: inout [Float]) {
    Self.bound(&block)
    transform.analyse(block, &state)
    for bin in 0..<power.count { power[bin] = BlockTransform.minimumPower }
    state.addPower(to: &power)
    noise.follow(power)
    suppression.update(power: power, unwanted: noise.power, part: Self.excess)
    state.apply(suppression.gains)
    transform.synthesise(&state, &block)
    Self.bound(&block)
  }

  private static func bound(_ block: inout [Float]) {
    for index in 0..<block.count { block[index] = max(-1, min(1, block[index])) }
  }
}
