import AudioBasics

/// Cleaning of a voice, block by block: echo, then noise, then reverberation, then level.
///
/// An echo can be cancelled only if no earlier stage has changed its sound, and its residual only
/// in the same block, so both come first. Noise reduction is next: it learns the noise from its
/// steadiness, which a varying gain of another stage would disturb. Dereverberation follows, since
/// without noise the decay of words in the room is audible to lower levels. The level comes last,
/// because it raises everything that is left.
struct BlockCleaner: ~Copyable {
  /// The number of frames of a block: the largest power of two, as the transforms require, of at
  /// most 20 ms, in which speech is stationary.
  let blockFrames: Int
  private let channelCount: Int
  private let sampleRate: Int
  private let settings: CleaningSettings
  /// The echo canceller, created with the first played frames, before which there is no echo.
  private var echo: EchoRemoval?
  /// One preprocessor per channel if echo is reduced.
  private var preprocessors: [Preprocessor]
  /// One suppressor per channel if noise is reduced.
  private let suppressors: [NoiseSuppressor]
  /// One dereverberator per channel, or one for both channels of stereo, if reverberation is
  /// reduced.
  private let dereverberators: [Dereverberator]
  /// One gain control per channel if the level is controlled.
  private var gains: [GainControl]
  /// The analysis of each channel by which a gain control recognises speech: that of the suppressor
  /// if noise is reduced. It analyses the sound before the suppressor: residual noise is not
  /// stationary.
  private let analyses: [NoiseAnalysis]
  private var numbers: [Int16]
  /// One block per channel.
  private var samples: [[Float]]

  init(
    _ settings: CleaningSettings, sampleRate: Int, channelCount: Int
  ) throws(CleaningFailure) {
    var frames = 64
    while frames * 2 * 50 <= sampleRate { frames *= 2 }
    let blockFrames = frames
    let width = channelCount == 2 ? 2 : 1
    let preprocessors = try Self.parts(ifNeeded: settings.echo != nil, channelCount) {
      _ throws(CleaningFailure) in
      try Preprocessor(blockFrames: blockFrames, sampleRate: sampleRate)
    }
    let suppressors = try Self.parts(ifNeeded: settings.denoise, channelCount) {
      _ throws(CleaningFailure) in
      try NoiseSuppressor(blockFrames: blockFrames, sampleRate: sampleRate)
    }
    let ownAnalyses = try Self.parts(
      ifNeeded: settings.automaticGain && !settings.denoise, channelCount
    ) { _ throws(CleaningFailure) in
      try NoiseAnalysis(blockFrames: blockFrames, sampleRate: sampleRate)
    }
    let dereverberators = try Self.parts(ifNeeded: settings.dereverb, channelCount, width: width) {
      channels throws(CleaningFailure) in
      try Dereverberator(channels: channels, blockFrames: blockFrames, sampleRate: sampleRate)
    }
    analyses = suppressors.map(\.analysis) + ownAnalyses
    self.preprocessors = preprocessors
    self.suppressors = suppressors
    self.dereverberators = dereverberators
    self.blockFrames = blockFrames
    self.channelCount = channelCount
    self.sampleRate = sampleRate
    self.settings = settings
    gains = Array(
      repeating: GainControl(blockFrames: blockFrames, sampleRate: sampleRate),
      count: settings.automaticGain ? channelCount : 0)
    numbers = Array(repeating: 0, count: blockFrames)
    samples = Array(repeating: Array(repeating: 0, count: blockFrames), count: channelCount)
  }

  /// Returns one part for each `width` channels if `isNeeded`; otherwise none.
  private static func parts<Part>(
    ifNeeded isNeeded: Bool, _ channelCount: Int, width: Int = 1,
    _ make: (Range<Int>) throws(CleaningFailure) -> Part
  ) throws(CleaningFailure) -> [Part] {
    var parts: [Part] = []
    guard isNeeded else { return parts }
    for first in stride(from: 0, to: channelCount, by: width) {
      parts.append(try make(first..<first + width))
    }
    return parts
  }

  /// The delay of blocks, in frames.
  var delayFrames: Int {
    [preprocessors.isEmpty, suppressors.isEmpty, dereverberators.isEmpty, gains.isEmpty].count {
      !$0
    } * blockFrames
  }

  /// Adds the frames played while the block's frames from `target` on were recorded.
  mutating func addPlayed(
    _ played: borrowing SampleBuffer, from first: Int, frames: Int, at target: Int
  ) {
    if echo == nil { beginEcho(playedChannelCount: played.channelCount) }
    echo?.addPlayed(played, from: first, frames: frames, at: target)
  }

  /// Adds silence: nothing was played during the block's frames from `target` on.
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
      if !suppressors.isEmpty {
        suppressors[channel].run(&samples[channel])
      } else if !analyses.isEmpty {
        analyses[channel].add(samples[channel])
      }
    }
    for dereverberator in dereverberators { dereverberator.run(&samples) }
    for channel in 0..<channelCount {
      if !gains.isEmpty {
        gains[channel].run(&samples[channel], isSpeech: analyses[channel].containsSpeech)
      }
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
    // Without enough memory for it, the echo remains, and the other cleaning continues.
    echo = try? EchoRemoval(
      echoSettings, sampleRate: sampleRate, channelCount: channelCount,
      playedChannelCount: playedChannelCount, blockFrames: blockFrames)
    guard let echo else { return }
    for (preprocessor, canceller) in zip(preprocessors, echo.cancellers) {
      preprocessor.canceller = canceller
    }
  }
}

/// The conversion of samples to the 16-bit integers that speexdsp uses, and back.
///
/// The rounding adds noise of about -98 dBFS. Full scale maps to the 16-bit limits, because the
/// echo canceller detects an overdriven microphone by them and does not adapt during that time.
enum SixteenBits {
  /// The integer of full scale.
  private static let fullScale: Float = 32768

  /// Returns the nearest integer, clipped at full scale.
  static func number(_ sample: Float) -> Int16 {
    Int16(clamping: max(-fullScale, min(fullScale - 1, (sample * fullScale).rounded())))
  }

  /// Returns the sample of an integer.
  static func sample(_ number: Int16) -> Float {
    Float(number) / fullScale
  }
}
