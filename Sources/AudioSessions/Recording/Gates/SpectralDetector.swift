import AudioBasics

/// Judges the blocks of one channel by their spectra: finds speech that steady noise nearly hides,
/// and tells music from it.
struct SpectralDetector: Sendable {
  /// The result for one block: the likelihood of speech, and whether it was music.
  struct Block: Sendable {
    /// The likelihood of speech: the median of the last 110 ms, which strokes of a key do not move.
    var likelihood: Float = 0
    /// Whether the last third of a second up to it was music.
    var isMusic = false
  }

  /// The share of steady tones from which on sound is music.
  private static let musicShare: Float = 0.21
  /// What is likelier than this stands out so far that the levels of the bands are surer.
  private static let mostLikelihood: Float = 2.5

  /// 32 ms follow the syllables, 64 ms tell tones apart.
  private var short: PowerSpectrum
  private var long: PowerSpectrum
  private var likelihood: SpeechLikelihood
  private var median = RunningMedian(count: 11)
  private var threshold = LikelihoodThreshold()
  private var tones: ToneSteadiness

  /// A detector for sound at `sampleRate`. Nil where memory is short.
  init?(sampleRate: Int) {
    guard let short = PowerSpectrum(seconds: 0.032, sampleRate: sampleRate),
      let long = PowerSpectrum(seconds: 0.064, sampleRate: sampleRate)
    else { return nil }
    likelihood = SpeechLikelihood(binCount: short.power.count)
    tones = ToneSteadiness(binCount: long.power.count)
    self.short = short
    self.long = long
  }

  /// Takes every `stride`-th of `samples` within `range`.
  mutating func process(_ samples: Span<Float>, in range: Range<Int>, stride: Int) {
    short.process(samples, in: range, stride: stride)
    long.process(samples, in: range, stride: stride)
  }

  /// Judges the block that has ended; blocks of digital silence are to be left out.
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

  /// How much `block` sounds like speech in steady noise, by what is known of the noise now.
  func evidence(of block: Block) -> SpeechEvidence {
    guard !block.isMusic, block.likelihood < Self.mostLikelihood else { return .none }
    return threshold.evidence(of: block.likelihood)
  }
}
