import AudioBasics
import AudioSpectra

/// Lowers steady noise in one channel by up to 18 dB: what of a bin's power is noise is taken out by
/// Wiener's rule. What comes out is one block late.
final class NoiseSuppressor {
  /// The lowest gain.
  private static let floor = Gain(decibels: -18)
  /// How much more noise is taken out than there is on average, in speech and without it: it is
  /// uneven, and what is left of its peaks is heard as musical noise.
  private static let (excess, excessInPauses): (Float, Float) = (1.5, 3)
  /// What is added to powers, far below the rounding of 24 bits: none is zero or denormal.
  private static let leastPower: Float = 1e-12

  private var transform: BlockTransform
  private var lane: BlockTransform.Lane
  private var power: [Float]
  private var noise: NoiseEstimate
  private var suppression: SuppressionGain

  init(blockFrames: Int, sampleRate: Int) throws(CleaningFailure) {
    let transform = try BlockTransform(blockFrames: blockFrames, sampleRate: sampleRate)
    let blockSeconds = Double(blockFrames) / Double(sampleRate)
    let binCount = transform.binCount
    lane = transform.makeLane()
    power = Array(repeating: 0, count: binCount)
    noise = NoiseEstimate(
      blockSeconds: blockSeconds, binHertz: Double(sampleRate) / Double(transform.length),
      binCount: binCount)
    suppression = SuppressionGain(
      floor: Self.floor, blockSeconds: blockSeconds, binCount: binCount)
    self.transform = transform
  }

  /// Takes in a block and puts the one before, cleaned, in its place. What lies beyond full scale is
  /// cut off.
  func run(_ block: inout [Float]) {
    Self.bound(&block)
    transform.analyse(block, &lane)
    for bin in 0..<power.count { power[bin] = lane.spectrum[bin].power + Self.leastPower }
    noise.follow(power)
    let excess =
      Self.excessInPauses + noise.speechLikelihood * (Self.excess - Self.excessInPauses)
    suppression.update(power: power, unwanted: noise.power, part: excess)
    for bin in 0..<power.count {
      lane.spectrum[bin] = lane.spectrum[bin] * suppression.gains[bin]
    }
    transform.synthesise(&lane, &block)
    Self.bound(&block)
  }

  private static func bound(_ block: inout [Float]) {
    for index in 0..<block.count { block[index] = max(-1, min(1, block[index])) }
  }
}
