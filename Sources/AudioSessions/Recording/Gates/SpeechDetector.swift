import AudioBasics

/// The analysis of a recording in blocks of 10 ms. It remembers the last blocks, so that they are
/// judged with the present estimate of the noise and with the blocks that followed.
struct SpeechDetector: Sendable {
  /// The number of frames in a block.
  let blockFrames: Int
  /// The number of whole blocks so far.
  private(set) var blocks = 0
  /// The loudest channel's level in the latest block, in dBFS.
  private(set) var levelDBFS = SpeechBands.silenceDBFS

  /// The number of following blocks that must be known to determine whether music continued: 100
  /// ms.
  private static let musicLookahead = 10

  private let thresholdDBFS: Double?
  let channelCount: Int
  private let rememberedBlocks: Int
  private var framesInBlock = 0
  private var bands: [SpeechBands]
  private var floors: [NoiseFloor]
  /// The levels of each remembered block, channel by channel.
  private var history: [BandLevels]
  /// One detector for each channel; empty with a fixed threshold, or if there is no memory.
  private var spectral: [SpectralDetector] = []
  /// The results of these detectors for each remembered block, channel by channel.
  private var spectralHistory: [SpectralDetector.Block] = []

  /// Detects speech according to `settings`, and remembers `rememberedBlocks` blocks in addition to
  /// those that cannot be judged yet.
  init(_ settings: VoiceSettings, rememberedBlocks: Int) {
    blockFrames = max(1, settings.sampleRate / 100)
    thresholdDBFS = settings.thresholdDBFS
    channelCount = max(1, settings.channelCount)
    self.rememberedBlocks = rememberedBlocks + Self.musicLookahead
    let band = SpeechBands(sampleRate: max(1000, settings.sampleRate))
    bands = Array(repeating: band, count: channelCount)
    let floor = NoiseFloor(bandwidths: band.bandwidths, blockSeconds: 0.01)
    floors = Array(repeating: floor, count: channelCount)
    history = Array(
      repeating: BandLevels(repeating: SpeechBands.silenceDBFS),
      count: channelCount * self.rememberedBlocks)
    guard thresholdDBFS == nil else { return }
    let detectors = (0..<channelCount).compactMap { _ in
      SpectralDetector(sampleRate: max(1000, settings.sampleRate))
    }
    guard detectors.count == channelCount else { return }
    spectral = detectors
    spectralHistory = Array(
      repeating: SpectralDetector.Block(), count: channelCount * self.rememberedBlocks)
  }

  /// The number of latest blocks that must be judged later, when the following blocks are known.
  var lookaheadBlocks: Int { spectral.isEmpty ? 0 : Self.musicLookahead }

  /// The noise level of the channel where it is highest, in dBFS; nil until it is known.
  var floorDBFS: Double? {
    var loudest: Double?
    for floor in floors {
      guard let total = floor.estimate?.levels.total else { continue }
      loudest = max(total, loudest ?? total)
    }
    return loudest
  }

  /// Analyses the frames of `buffer` from `firstFrame` on, up to `end` or the end of a block.
  /// Returns the number of frames, and whether a block was completed.
  mutating func process(
    _ buffer: borrowing SampleBuffer, from firstFrame: Int, to end: Int
  ) -> (frames: Int, isBlock: Bool) {
    let count = min(end - firstFrame, blockFrames - framesInBlock)
    let range = firstFrame * channelCount..<(firstFrame + count) * channelCount
    for channel in 0..<channelCount {
      bands[channel].process(
        buffer.samples, in: range.lowerBound + channel..<range.upperBound, stride: channelCount)
    }
    for channel in spectral.indices {
      spectral[channel].process(
        buffer.samples, in: range.lowerBound + channel..<range.upperBound, stride: channelCount)
    }
    framesInBlock += count
    guard framesInBlock == blockFrames else { return (count, false) }
    framesInBlock = 0
    finishBlock()
    return (count, true)
  }

  /// Returns the evidence of speech in block number `block`, in the channel where it is strongest.
  func evidence(at block: Int) -> SpeechEvidence {
    var best = SpeechEvidence.none
    for channel in 0..<channelCount {
      let index = block % rememberedBlocks * channelCount + channel
      best = max(best, evidence(at: index, in: channel))
    }
    return best
  }

  /// Returns the evidence of speech at `index`. Music is not speech; speech exceeds the noise, or
  /// is likely in steady noise.
  private func evidence(at index: Int, in channel: Int) -> SpeechEvidence {
    if let thresholdDBFS { return SpeechEvidence(history[index], threshold: thresholdDBFS) }
    guard let noise = floors[channel].estimate else { return .none }
    let loud = SpeechEvidence(history[index], over: noise)
    guard !spectral.isEmpty else { return loud }
    let block = spectralHistory[index]
    if block.isMusic { return .none }
    let likely = spectral[channel].evidence(of: block)
    // Between key strokes a spectrum may still look like speech, although nothing is loud.
    return loud == .none ? min(likely, .strong) : max(loud, likely)
  }

  private mutating func finishBlock() {
    levelDBFS = SpeechBands.silenceDBFS
    for channel in 0..<channelCount {
      let levels = bands[channel].finishBlock()
      let index = blocks % rememberedBlocks * channelCount + channel
      history[index] = levels
      if !spectral.isEmpty { spectralHistory[index] = SpectralDetector.Block() }
      levelDBFS = max(levelDBFS, levels.total)
      // A device may begin with zeros, and lost frames are zeros: they contain no information about
      // the noise.
      guard levels.max() > SpeechBands.silenceDBFS + 10 else { continue }
      floors[channel].add(levels)
      if !spectral.isEmpty {
        spectralHistory[index] = spectral[channel].finishBlock()
        if !spectralHistory[index].isMusic { endMusic(in: channel) }
      }
    }
    blocks += 1
  }

  /// Clears the mark of music of the block 100 ms ago: the share of steady tones is a running mean,
  /// which decreases with this delay when speech begins.
  private mutating func endMusic(in channel: Int) {
    let block = blocks - Self.musicLookahead
    guard block >= 0 else { return }
    spectralHistory[block % rememberedBlocks * channelCount + channel].isMusic = false
  }
}

/// The strength of the evidence that a block is speech.
enum SpeechEvidence: Sendable, Comparable {
  /// Silence or noise.
  case none
  /// Enough for speech to continue.
  case weak
  /// Enough for speech to begin.
  case strong
  /// 11 dB or more above the noise, or three times as far above it as likely speech: such a block
  /// has a higher weight.
  case distinct

  /// The excess over the noise in decibels, as the root mean square over the bands.
  private static let distinctExcess = 11.0
  private static let strongExcess = 7.6
  private static let weakExcess = 5.0
  /// The additional excess for speech to continue, for each decibel of the noise's unsteadiness.
  private static let weakPerUnrest = 0.4
  /// The difference in decibels between a fixed threshold and the level at which speech has ended.
  private static let hysteresis = 6.0

  /// Judges a block with these `levels` in this noise.
  init(_ levels: BandLevels, over noise: NoiseFloor.Estimate) {
    let excess = (levels - noise.levels).clamped(
      lowerBound: BandLevels(repeating: 0), upperBound: BandLevels(repeating: 40))
    let surplus = ((excess * excess).sum() / 4).squareRoot()
    let weak = min(Self.strongExcess, Self.weakExcess + Self.weakPerUnrest * noise.unrest)
    self =
      surplus >= Self.distinctExcess
      ? .distinct : surplus >= Self.strongExcess ? .strong : surplus >= weak ? .weak : .none
  }

  /// Judges a block with these `levels` by a fixed threshold in dBFS.
  init(_ levels: BandLevels, threshold: Double) {
    let total = levels.total
    self = total >= threshold ? .strong : total >= threshold - Self.hysteresis ? .weak : .none
  }
}
