/// The spectrum of one channel, block by block, and the stationary noise in it.
final class NoiseAnalysis {
  /// The least `NoiseEstimate.presence` of speech. Stationary noise has about 1.
  private static let minimumPresence: Float = 1.5

  /// The power of each bin up to the newest block.
  private(set) var power: [Float]
  private(set) var noise: NoiseEstimate
  /// The distance of two bins in hertz.
  let binHertz: Double
  private var transform: BlockTransform
  private var state: BlockTransform.ChannelState

  /// Throws if memory is insufficient.
  init(blockFrames: Int, sampleRate: Int) throws(CleaningFailure) {
    let transform = try BlockTransform(blockFrames: blockFrames, sampleRate: sampleRate)
    power = Array(repeating: 0, count: transform.binCount)
    binHertz = Double(sampleRate) / Double(transform.length)
    noise = NoiseEstimate(
      blockSeconds: Double(blockFrames) / Double(sampleRate), binHertz: binHertz,
      binCount: transform.binCount)
    state = transform.makeChannelState()
    self.transform = transform
  }

  /// Adds a block.
  func add(_ block: [Float]) {
    transform.analyse(block, &state)
    for bin in power.indices { power[bin] = BlockTransform.minimumPower }
    state.addPower(to: &power)
    noise.follow(power)
  }

  /// Whether the newest block contains speech.
  var containsSpeech: Bool { noise.presence >= Self.minimumPresence }

  /// Multiplies each bin by its gain, and writes to `block` the block before the newest one.
  func synthesise(_ gains: [Float], _ block: inout [Float]) {
    state.apply(gains)
    transform.synthesise(&state, &block)
  }
}
