import AudioBasics
import CSpeexVoice

/// Removes the echo of the played signal from every channel, one block at a time.
final class EchoRemoval {
  /// The lead in seconds (1.7 m) with which the played signal reaches the canceller, because a
  /// microphone may be nearer than during the delay measurement, and no echo can be cancelled
  /// before its cause.
  private static let safetySeconds = 0.005

  /// One canceller per channel.
  let cancellers: [EchoCanceller]
  /// The number of reference channels: two for two loudspeakers, whose paths in the room differ,
  /// and otherwise one, the mean of all played channels.
  private let speakerCount: Int
  private var history: EchoReferenceHistory
  private var played: SampleBuffer
  private var numbers: [Int16]
  /// The spectra of the played signal after clipping at several limits.
  private var spectra: ClippedSpectra

  init(
    _ settings: EchoSettings, sampleRate: Int, channelCount: Int, playedChannelCount: Int,
    blockFrames: Int
  ) throws(CleaningFailure) {
    let safety = Int(clamping: Double(sampleRate) * Self.safetySeconds)
    let early = min(safety, settings.delayFrames)
    let speakerCount = playedChannelCount == 2 ? 2 : 1
    let spectra = try ClippedSpectra(
      speakerCount: speakerCount, blockFrames: blockFrames, sampleRate: sampleRate)
    var made: [EchoCanceller] = []
    for _ in 0..<channelCount {
      made.append(
        try EchoCanceller(
          tailFrames: Int(clamping: settings.tailSeconds * Double(sampleRate)) + early,
          speakerCount: speakerCount, blockFrames: blockFrames, sampleRate: sampleRate,
          limit: try LoudspeakerLimit(
            order: spectra.order, blockFrames: blockFrames, sampleRate: sampleRate)))
    }
    cancellers = made
    self.spectra = spectra
    self.speakerCount = speakerCount
    history = EchoReferenceHistory(
      delayFrames: settings.delayFrames - early, channelCount: speakerCount)
    played = SampleBuffer(frameCount: blockFrames, channelCount: speakerCount)
    numbers = Array(repeating: 0, count: played.sampleCount)
  }

  /// Adds `frames` played frames as the block's frames from `target` on.
  func addPlayed(_ source: borrowing SampleBuffer, from first: Int, frames: Int, at target: Int) {
    guard source.channelCount != speakerCount else {
      return played.replace(at: target, with: source, from: first, frames: frames)
    }
    let count = source.channelCount
    for frame in 0..<frames {
      var sum: Float = 0
      for channel in 0..<count { sum += source.base[(first + frame) * count + channel] }
      for speaker in 0..<speakerCount {
        played.base[(target + frame) * speakerCount + speaker] = sum / Float(max(1, count))
      }
    }
  }

  /// Adds silence: nothing was played during the block's frames from `target` on.
  func addSilence(frames: Int, at target: Int) {
    played.clear(from: target, frames: frames)
  }

  /// Ends the played block and prepares the reference for `cancel`.
  func endBlock() {
    history.delay(&played, frames: played.frameCount)
    spectra.follow(played)
  }

  /// Removes the echo from one channel's block. `captured` is the block as recorded.
  func cancel(_ block: inout [Int16], captured: [Float], channel: Int) {
    let limit = cancellers[channel].limit(captured, spectra)
    for index in 0..<numbers.count {
      numbers[index] = SixteenBits.number(
        ClippedSpectra.clipped(played.base[index], at: limit))
    }
    cancellers[channel].cancel(&block, played: numbers)
  }
}

/// The echo canceller of speexdsp for one microphone and any number of loudspeakers: an adaptive
/// filter that learns the response of the room. It adds no delay.
final class EchoCanceller {
  /// The canceller's state, from which the preprocessor reads the residual echo.
  let state: OpaquePointer
  private var output: [Int16]
  private var limit: LoudspeakerLimit
  private var notchInverse: NotchInverse

  init(
    tailFrames: Int, speakerCount: Int, blockFrames: Int, sampleRate: Int,
    limit: consuming LoudspeakerLimit
  ) throws(CleaningFailure) {
    guard
      let state = speex_echo_state_init_mc(
        Int32(blockFrames), Int32(tailFrames), 1, Int32(speakerCount))
    else { throw .outOfMemory }
    self.state = state
    self.limit = limit
    notchInverse = NotchInverse(sampleRate: sampleRate)
    output = Array(repeating: 0, count: blockFrames)
    var rate = Int32(sampleRate)
    speex_echo_ctl(state, SPEEX_ECHO_SET_SAMPLING_RATE, &rate)
  }

  deinit {
    speex_echo_state_destroy(state)
  }

  /// Returns the factor of full scale at which the loudspeakers clip, as estimated from the blocks
  /// up to this one, which was `captured` while the newest of `spectra` were played.
  func limit(_ captured: [Float], _ spectra: borrowing ClippedSpectra) -> Float {
    limit.follow(captured, spectra)
    return limit.factor
  }

  /// Removes the echo of `played`, interleaved, from a block.
  func cancel(_ block: inout [Int16], played: [Int16]) {
    speex_echo_cancellation(state, block, played, &output)
    swap(&block, &output)
    notchInverse.run(&block)
  }
}

/// A delay line for the played frames: output frames are `delayFrames` later than input frames, and
/// silence precedes the first.
struct EchoReferenceHistory: ~Copyable {
  private var ring: SampleBuffer
  private var position = 0
  private let delayFrames: Int

  init(delayFrames: Int, channelCount: Int) {
    self.delayFrames = delayFrames
    ring = SampleBuffer(frameCount: max(1, delayFrames), channelCount: channelCount)
  }

  /// Replaces the first `frames` frames of `buffer` by the delayed frames.
  mutating func delay(_ buffer: inout SampleBuffer, frames: Int) {
    guard delayFrames > 0 else { return }
    for frame in 0..<frames {
      for channel in 0..<ring.channelCount {
        let index = frame * ring.channelCount + channel
        swap(&ring.base[position * ring.channelCount + channel], &buffer.base[index])
      }
      position = position + 1 == delayFrames ? 0 : position + 1
    }
  }
}
