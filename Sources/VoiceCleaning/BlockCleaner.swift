import AudioBasics

/// What speexdsp does to a voice, block by block: echo, then noise, then level.
struct BlockCleaner: ~Copyable {
  /// Frames of a block: the most that are a power of two, for the transforms, and no more than
  /// 20 ms, in which speech is steady.
  let blockFrames: Int
  private let channelCount: Int
  private let sampleRate: Int
  private let settings: CleaningSettings
  /// What removes an echo, from the first frames that were played on: before, there is none.
  private var echo: EchoRemoval?
  /// One a channel, if noise or echo is lowered.
  private var preprocessors: [Preprocessor]
  /// One a channel, if the level is evened.
  private var gains: [GainControl]
  private var numbers: [Int16]
  private var samples: [Float]

  init(
    _ settings: CleaningSettings, sampleRate: Int, channelCount: Int
  ) throws(CleaningFailure) {
    var frames = 64
    while frames * 2 * 50 <= sampleRate { frames *= 2 }
    var gains: [GainControl] = []
    if settings.automaticGain {
      for _ in 0..<channelCount {
        gains.append(try GainControl(blockFrames: frames, sampleRate: sampleRate))
      }
    }
    var preprocessors: [Preprocessor] = []
    if settings.denoise || settings.echo != nil {
      for _ in 0..<channelCount {
        preprocessors.append(
          try Preprocessor(
            denoises: settings.denoise, blockFrames: frames, sampleRate: sampleRate))
      }
    }
    self.preprocessors = preprocessors
    blockFrames = frames
    self.channelCount = channelCount
    self.sampleRate = sampleRate
    self.settings = settings
    self.gains = gains
    numbers = Array(repeating: 0, count: frames)
    samples = Array(repeating: 0, count: frames)
  }

  /// Frames by which blocks come out late.
  var delayFrames: Int {
    (preprocessors.isEmpty ? 0 : blockFrames) + (gains.isEmpty ? 0 : blockFrames)
  }

  /// Takes in what was played while the block's frames from `target` on were recorded.
  mutating func hear(
    _ played: borrowing SampleBuffer, from first: Int, frames: Int, at target: Int
  ) {
    if echo == nil { beginEcho(playedChannelCount: played.channelCount) }
    echo?.hear(played, from: first, frames: frames, at: target)
  }

  /// Takes in that nothing was played meanwhile.
  mutating func hearSilence(frames: Int, at target: Int) {
    echo?.hearSilence(frames: frames, at: target)
  }

  /// Cleans a block in place.
  mutating func clean(_ block: inout SampleBuffer) {
    echo?.endBlock()
    for channel in 0..<channelCount {
      for frame in 0..<blockFrames { samples[frame] = block.base[frame * channelCount + channel] }
      if !preprocessors.isEmpty { preprocess(channel) }
      if !gains.isEmpty { gains[channel].run(&samples) }
      for frame in 0..<blockFrames { block.base[frame * channelCount + channel] = samples[frame] }
    }
  }

  private mutating func preprocess(_ channel: Int) {
    for frame in 0..<blockFrames { numbers[frame] = SixteenBits.number(samples[frame]) }
    echo?.cancel(&numbers, channel: channel)
    preprocessors[channel].run(&numbers)
    for frame in 0..<blockFrames { samples[frame] = SixteenBits.sample(numbers[frame]) }
  }

  private mutating func beginEcho(playedChannelCount: Int) {
    guard let echoSettings = settings.echo else { return }
    // Without the memory for it, the echo stays: the voice is still cleaned of the rest.
    echo = try? EchoRemoval(
      echoSettings, sampleRate: sampleRate, channelCount: channelCount,
      playedChannelCount: playedChannelCount, blockFrames: blockFrames)
    guard let echo else { return }
    for (preprocessor, canceller) in zip(preprocessors, echo.cancellers) {
      preprocessor.canceller = canceller
    }
  }
}
