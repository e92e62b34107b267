import AudioBasics

/// A detector that judges the blocks of one channel by their spectra: it finds speech that steady
/// noise nearly hides, and distinguishes music from it.
struct SpectralDetector: Sendable {
  /// The result for one block: the likelihood of speech, and whether it is music.
  struct Block: Sendable {
    /// The likelihood of speech: the median over the last 110 ms, which key strokes do not change.
    var likelihood: Float = 0
    /// Whether the last third of a second before the end of the block was music.
    var isMusic = false
  }

  /// The share of steady tones from which on a signal is music.
  private static let musicShare: Float = 0.21
  /// The likelihood from which on the levels of the bands are more reliable, because the signal is
  /// far above the noise.
  private static let maximumLikelihood: Float = 2.5

  /// A window of 32 ms follows the syllables, one of 64 ms resolves tones.
  private var short: PowerSpectrum
  private var long: PowerSpectrum
  private var likelihood: SpeechLikelihood
  private var median = RunningMedian(count: 11)
  private var threshold = LikelihoodThreshold()
  private var tones: ToneSteadiness

  /// Creates a detector for `sampleRate`; nil if there is no memory.
  init?(sampleRate: Int) {
    guard let short = PowerSpectrum(seconds: 0.032, sampleRate: sampleRate),
      let long = PowerSpectrum(seconds: 0.064, sampleRate: sampleRate)
    else { return nil }
    likelihood = SpeechLikelihood(binCount: short.power.count)
    tones = ToneSteadiness(binCount: long.power.count)
    self.short = short
    self.long = long
  }

  /// Processes every `stride`-th of `samples` within `range`.
  mutating func process(_ samples: Span<Float>, in range: Range<Int>, stride: Int) {
    short.process(samples, in: range, stride: stride)
    long.process(samples, in: range, stride: stride)
  }

  /// Judges the completed block; blocks of digital silence must be left out.
  mutating func finishBlock() -> Block {
    short.update()
    long.update()
    tones.add(long.power)
    var block = Block(isMusic: tones.share > Self.musicShare)
    if let value = likelihood.next(short.power) {
      threshold.add(value)
      block.likelihood = median.add(value)
    }
    return block
  }

  /// Returns the evidence of speech in `block` in steady noise, according to the present estimate
  /// of the noise.
  func evidence(of block: Block) -> SpeechEvidence {
    guard !block.isMusic, block.likelihood < Self.maximumLikelihood else { return .none }
    return threshold.evidence(of: block.likelihood)
  }
}
