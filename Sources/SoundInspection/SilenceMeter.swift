import AudioBasics

/// Measures the silence in audio: frames below -60 dBFS in all channels.
struct SilenceMeter {
  /// -60 dBFS.
  private static let threshold: Float = 0.001

  /// The minimum length of a pause in frames: low samples between the loud samples of a tone are
  /// not silence.
  private let minimumFrames: Int
  private var frames = 0
  private var firstLoud: Int?
  private var lastLoud = -1
  private var pauseFrames = 0

  init(sampleRate: Int) { minimumFrames = max(1, sampleRate / 2) }

  mutating func add(_ buffer: borrowing SampleBuffer, frames count: Int) {
    let samples = buffer.samples
    let channelCount = buffer.channelCount
    for frame in 0..<count {
      var highest: Float = 0
      for index in frame * channelCount..<(frame + 1) * channelCount {
        highest = max(highest, abs(samples[index]))
      }
      guard highest > Self.threshold else { continue }
      let position = frames + frame
      if firstLoud == nil {
        firstLoud = position
      } else if position - lastLoud - 1 >= minimumFrames {
        pauseFrames += position - lastLoud - 1
      }
      lastLoud = position
    }
    frames += count
  }

  /// The silence found so far.
  var silence: SilentFrames {
    guard let firstLoud else { return SilentFrames(lead: frames, tail: frames, total: frames) }
    let tail = frames - 1 - lastLoud
    return SilentFrames(lead: firstLoud, tail: tail, total: firstLoud + pauseFrames + tail)
  }
}

/// The numbers of silent frames, which are below -60 dBFS in all channels.
public struct SilentFrames: Sendable, Equatable {
  /// The number of silent frames before the first frame that is not silent.
  public var lead: Int
  /// The number of silent frames after the last frame that is not silent.
  public var tail: Int
  /// The total number of silent frames: both ends and all pauses of at least half a second.
  public var total: Int
}
