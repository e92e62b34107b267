import AudioBasics

/// Takes the echo of what is played out of every channel, a block at a time.
final class EchoRemoval {
  /// A microphone may be nearer than when the delay was measured: what is played comes to the
  /// canceller this much early, in seconds (1.7 m), for no echo can be cancelled before its cause.
  private static let safetySeconds = 0.005

  /// One a channel.
  let cancellers: [EchoCanceller]
  /// Two loudspeakers sound differently in a room; of more, or of one, their mean is heard.
  private let speakerCount: Int
  private var history: PlayedHistory
  private var played: SampleBuffer
  private var numbers: [Int16]

  init(
    _ settings: EchoSettings, sampleRate: Int, channelCount: Int, playedChannelCount: Int,
    blockFrames: Int
  ) throws(CleaningFailure) {
    let safety = Int(clamping: Double(sampleRate) * Self.safetySeconds)
    let early = min(safety, settings.delayFrames)
    let speakerCount = playedChannelCount == 2 ? 2 : 1
    var made: [EchoCanceller] = []
    for _ in 0..<channelCount {
      made.append(
        try EchoCanceller(
          tailFrames: Int(clamping: settings.tailSeconds * Double(sampleRate)) + early,
          speakerCount: speakerCount, blockFrames: blockFrames, sampleRate: sampleRate))
    }
    cancellers = made
    self.speakerCount = speakerCount
    history = PlayedHistory(
      delayFrames: settings.delayFrames - early, channelCount: speakerCount)
    played = SampleBuffer(frameCount: blockFrames, channelCount: speakerCount)
    numbers = Array(repeating: 0, count: played.sampleCount)
  }

  /// Takes in `frames` frames that were played, as the block's from `target` on.
  func hear(_ source: borrowing SampleBuffer, from first: Int, frames: Int, at target: Int) {
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

  /// Takes in that nothing was played.
  func hearSilence(frames: Int, at target: Int) {
    played.clear(from: target, frames: frames)
  }

  /// Ends the block that was heard: what its echo is made of is ready for `cancel`.
  func endBlock() {
    history.delay(&played, frames: played.frameCount)
    for index in 0..<numbers.count {
      let sample = played.base[index]
      numbers[index] = SixteenBits.number(sample.isFinite ? sample : 0)
    }
  }

  /// Takes the echo out of one channel's block.
  func cancel(_ block: inout [Int16], channel: Int) {
    cancellers[channel].cancel(&block, played: numbers)
  }
}
