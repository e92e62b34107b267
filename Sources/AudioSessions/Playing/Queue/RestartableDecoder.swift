import AudioBasics
import AudioFiles

/// A decoder that cannot seek, but can start again until a certain amount was read: the frames that
/// a queue reads ahead of a turn may have to be played at another time.
final class RestartableDecoder: ForwardingDecoder {
  let decoder: any SoundDecoder
  /// The samples from the first one on, while they are kept.
  private var kept: [Float] = []
  private var keptFrames = 0
  private var isKeeping: Bool
  private let keptLimit: Int
  private(set) var position: Int

  /// The number of seconds kept: more than a ring buffer holds at the highest speed.
  private static let keptSeconds = 8
  /// The number of samples kept at most, 16 MB: for many channels at a high rate, fewer seconds are
  /// kept.
  private static let keptSamples = 4_000_000

  /// Creates a restartable form of `decoder`, from which nothing should have been read yet. `count`
  /// of them are played at once.
  init(_ decoder: any SoundDecoder, memorySharedBy count: Int = 1) {
    self.decoder = decoder
    position = decoder.position
    isKeeping = decoder.position == 0
    // The properties of the decoder are not validated yet.
    let channels = Double(max(1, decoder.channelCount)) * Double(max(1, count))
    keptLimit = Int(
      clamping: min(
        Double(Self.keptSeconds) * Double(max(0, decoder.sampleRate)),
        (Double(Self.keptSamples) / channels).rounded(.down)))
  }

  /// Whether the decoder can start again.
  var canRestart: Bool { isKeeping }

  var supportsSeeking: Bool { false }

  func isReady(prebuffer seconds: Double?) -> Bool {
    position < keptFrames || decoder.isReady(prebuffer: seconds)
  }

  func read(
    into buffer: inout SampleBuffer, at target: Int, frames: Int
  ) throws(FileFailure) -> Int {
    guard !isKeeping || position == keptFrames else {
      return repeatKept(into: &buffer, at: target, frames: frames)
    }
    let count = try decoder.readChecked(into: &buffer, at: target, frames: frames)
    position += count
    guard isKeeping else { return count }
    if position > keptLimit {
      isKeeping = false
      kept = []
    } else {
      for sample in target * channelCount..<(target + count) * channelCount {
        kept.append(buffer[sample])
      }
      keptFrames = position
    }
    return count
  }

  private func repeatKept(
    into buffer: inout SampleBuffer, at target: Int, frames: Int
  ) -> Int {
    let count = min(frames, keptFrames - position)
    for sample in 0..<count * channelCount {
      buffer[target * channelCount + sample] = kept[position * channelCount + sample]
    }
    position += count
    return count
  }

  func seek(toFrame frame: Int) throws(FileFailure) {
    if frame == 0, isKeeping {
      position = 0
    } else if frame != position {
      try decoder.seek(toFrame: frame)
    }
  }
}
