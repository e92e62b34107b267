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
    for bin in 0..<power.count { power[bin] = BlockTransform.leastPower }
    lane.addPower(to: &power)
    noise.follow(power)
    let excess =
      Self.excessInPauses + noise.speechLikelihood * (Self.excess - Self.excessInPauses)
    suppression.update(power: power, unwanted: noise.power, part: excess)
    lane.apply(suppression.gains)
    transform.synthesise(&lane, &block)
    Self.bound(&block)
  }

  private static func bound(_ block: inout [Float]) {
    for index in 0..<block.count { block[index] = max(-1, min(1, block[index])) }
  }
}
