import AudioBasics

/// Cuts a recording into blocks of 10 ms and remembers the last of them, to judge them by what is known
/// of the noise at the moment of asking.
struct SpeechDetector: Sendable {
  /// Frames of a block.
  let blockFrames: Int
  /// Whole blocks so far.
  private(set) var blocks = 0
  /// The loudest channel's level in the latest block, in dBFS.
  private(set) var levelDBFS = SpeechBands.silenceDBFS

  private let thresholdDBFS: Double?
  let channelCount: Int
  private let rememberedBlocks: Int
  private var framesInBlock = 0
  private var bands: [SpeechBands]
  private var floors: [NoiseFloor]
  /// Each remembered block's levels, channel by channel.
  private var history: [BandLevels]

  /// Detects as `settings` say and remembers `rememberedBlocks` blocks.
  init(_ settings: VoiceSettings, rememberedBlocks: Int) {
    blockFrames = max(1, settings.sampleRate / 100)
    thresholdDBFS = settings.thresholdDBFS
    channelCount = max(1, settings.channelCount)
    self.rememberedBlocks = rememberedBlocks
    let band = SpeechBands(sampleRate: max(1000, settings.sampleRate))
    bands = Array(repeating: band, count: channelCount)
    let floor = NoiseFloor(bandwidths: band.bandwidths, blockSeconds: 0.01)
    floors = Array(repeating: floor, count: channelCount)
    history = Array(
      repeating: BandLevels(repeating: SpeechBands.silenceDBFS),
      count: channelCount * rememberedBlocks)
  }

  /// The noise's level in the channel where it is loudest, in dBFS; nil until it is known.
  var floorDBFS: Double? {
    var loudest: Double?
    for floor in floors {
      guard let total = floor.estimate?.levels.total else { continue }
      loudest = max(total, loudest ?? total)
    }
    return loudest
  }

  /// Analyses the frames of `buffer` from `firstFrame` to `end` at most: up to the end of a block.
  /// Returns how many these were, and whether a block was completed.
  mutating func process(
    _ buffer: borrowing SampleBuffer, from firstFrame: Int, to end: Int
  ) -> (frames: Int, isBlock: Bool) {
    let count = min(end - firstFrame, blockFrames - framesInBlock)
    let range = firstFrame * channelCount..<(firstFrame + count) * channelCount
    for channel in 0..<channelCount {
      bands[channel].process(
        buffer.samples, in: range.lowerBound + channel..<range.upperBound, stride: channelCount)
    }
    framesInBlock += count
    guard framesInBlock == blockFrames else { return (count, false) }
    framesInBlock = 0
    finishBlock()
    return (count, true)
  }

  /// How much block number `block` sounds like speech, in the channel where it does most.
  func evidence(at block: Int) -> SpeechEvidence {
    var best = SpeechEvidence.none
    for channel in 0..<channelCount {
      let levels = history[block % rememberedBlocks * channelCount + channel]
      switch evidence(of: levels, in: channel) {
      case .strong: return .strong
      case .weak: best = .weak
      case .none: continue
      }
    }
    return best
  }

  private func evidence(of levels: BandLevels, in channel: Int) -> SpeechEvidence {
    if let thresholdDBFS { return SpeechEvidence(levels, threshold: thresholdDBFS) }
    guard let noise = floors[channel].estimate else { return .none }
    return SpeechEvidence(levels, over: noise)
  }

  private mutating func finishBlock() {
    levelDBFS = SpeechBands.silenceDBFS
    for channel in 0..<channelCount {
      let levels = bands[channel].finishBlock()
      history[blocks % rememberedBlocks * channelCount + channel] = levels
      levelDBFS = max(levelDBFS, levels.total)
      // A device may begin with zeros, and lost frames are zeros: they tell nothing of the noise.
      if levels.max() > SpeechBands.silenceDBFS + 10 { floors[channel].add(levels) }
    }
    blocks += 1
  }
}

/// How much a block sounds like speech.
enum SpeechEvidence: Sendable {
  /// Quiet, or noise.
  case none
  /// Enough for speech that has begun to go on.
  case weak
  /// Enough for speech to begin.
  case strong

  /// Decibels by which the noise must be surpassed, over the bands' root mean square.
  private static let strongExcess = 7.0
  private static let weakExcess = 5.0
  /// How much more it must be for each decibel of the noise's unrest.
  private static let strongPerUnrest = 0.5
  private static let weakPerUnrest = 0.9
  /// Decibels between a fixed threshold and the level at which speech has ended.
  private static let hysteresis = 6.0

  /// Of a block of these `levels` over that noise.
  init(_ levels: BandLevels, over noise: NoiseFloor.Estimate) {
    let excess = (levels - noise.levels).clamped(
      lowerBound: BandLevels(repeating: 0), upperBound: BandLevels(repeating: 40))
    let surplus = ((excess * excess).sum() / 4).squareRoot()
    let strong = Self.strongExcess + Self.strongPerUnrest * noise.unrest
    let weak = min(strong, Self.weakExcess + Self.weakPerUnrest * noise.unrest)
    self = surplus >= strong ? .strong : surplus >= weak ? .weak : .none
  }

  /// Of a block of these `levels` beside a fixed threshold in dBFS.
  init(_ levels: BandLevels, threshold: Double) {
    let total = levels.total
    self = total >= threshold ? .strong : total >= threshold - Self.hysteresis ? .weak : .none
  }
}
