import AudioBasics

/// The cleaning of a voice block by block: echo, then noise, then reverberation, then level.
///
/// An echo can be cancelled only while nothing has changed its sound, and what is left of it only
/// in the same block: so both come first, and then the noise, which is learned from its steadiness
/// and must not be moved by another's gain. Reverberation comes next: cleaned of noise, words are
/// heard to fall deeper into the room's decay. The level comes last, for it raises all that is
/// left.
struct BlockCleaner: ~Copyable {
  /// Frames of a block: the most that are a power of two, for the transforms, and no more than
  /// 20 ms, in which speech is steady.
  let blockFrames: Int
  private let channelCount: Int
  private let sampleRate: Int
  private let settings: CleaningSettings
  /// What removes an echo, from the first frames that were played on: before, there is none.
  private var echo: EchoRemoval?
  /// One a channel, if echo is lowered.
  private var preprocessors: [Preprocessor]
  /// One a channel, if noise is lowered.
  private let suppressors: [NoiseSuppressor]
  /// One a channel, or one for two, if reverberation is lowered.
  private let dereverberators: [Dereverberator]
  /// One a channel, if the level is evened.
  private var gains: [GainControl]
  private var numbers: [Int16]
  /// A block of each channel.
  private var samples: [[Float]]

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
    if settings.echo != nil {
      for _ in 0..<channelCount {
        preprocessors.append(try Preprocessor(blockFrames: frames, sampleRate: sampleRate))
      }
    }
    var suppressors: [NoiseSuppressor] = []
    if settings.denoise {
      for _ in 0..<channelCount {
        suppressors.append(try NoiseSuppressor(blockFrames: frames, sampleRate: sampleRate))
      }
    }
    var dereverberators: [Dereverberator] = []
    if settings.dereverb {
      let width = channelCount == 2 ? 2 : 1
      for first in stride(from: 0, to: channelCount, by: width) {
        dereverberators.append(
          try Dereverberator(
            channels: first..<first + width, blockFrames: frames, sampleRate: sampleRate))
      }
    }
    self.preprocessors = preprocessors
    self.suppressors = suppressors
    self.dereverberators = dereverberators
    blockFrames = frames
    self.channelCount = channelCount
    self.sampleRate = sampleRate
    self.settings = settings
    self.gains = gains
    numbers = Array(repeating: 0, count: frames)
    samples = Array(repeating: Array(repeating: 0, count: frames), count: channelCount)
  }

  /// Frames by which blocks come out late.
  var delayFrames: Int {
    [preprocessors.isEmpty, suppressors.isEmpty, dereverberators.isEmpty, gains.isEmpty].count {
      !$0
    } * blockFrames
  }

  /// Takes in what was played while the block's frames from `target` on were recorded.
  mutating func addPlayed(
    _ played: borrowing SampleBuffer, from first: Int, frames: Int, at target: Int
  ) {
    if echo == nil { beginEcho(playedChannelCount: played.channelCount) }
    echo?.addPlayed(played, from: first, frames: frames, at: target)
  }

  /// Takes in that nothing was played meanwhile.
  mutating func addSilence(frames: Int, at target: Int) {
    echo?.addSilence(frames: frames, at: target)
  }

  /// Cleans a block in place.
  mutating func clean(_ block: inout SampleBuffer) {
    echo?.endBlock()
    for channel in 0..<channelCount {
      for frame in 0..<blockFrames {
        samples[channel][frame] = block.base[frame * channelCount + channel]
      }
      if !preprocessors.isEmpty { preprocess(channel) }
      if !suppressors.isEmpty { suppressors[channel].run(&samples[channel]) }
    }
    for dereverberator in dereverberators { dereverberator.run(&samples) }
    for channel in 0..<channelCount {
      if !gains.isEmpty { gains[channel].run(&samples[channel]) }
      for frame in 0..<blockFrames {
        block.base[frame * channelCount + channel] = samples[channel][frame]
      }
    }
  }

  private mutating func preprocess(_ channel: Int) {
    for frame in 0..<blockFrames { numbers[frame] = SixteenBits.number(samples[channel][frame]) }
    echo?.cancel(&numbers, captured: samples[channel], channel: channel)
    preprocessors[channel].run(&numbers)
    for frame in 0..<blockFrames {
      samples[channel][frame] = SixteenBits.sample(numbers[frame])
    }
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

/// The conversion of samples to the 16-bit numbers that speexdsp takes, and back.
///
/// Rounding in and out adds noise of about -98 dBFS. Full scale is all that 16 bits hold, for by
/// that the echo canceller sees that a microphone was overdriven, and learns nothing meanwhile.
enum SixteenBits {
  /// The number of full scale.
  private static let fullScale: Float = 32768

  /// The nearest number; what lies beyond full scale is cut off.
  static func number(_ sample: Float) -> Int16 {
    Int16(clamping: max(-fullScale, min(fullScale - 1, (sample * fullScale).rounded())))
  }

  /// The sample of a number.
  static func sample(_ number: Int16) -> Float {
    Float(number) / fullScale
  }
}
