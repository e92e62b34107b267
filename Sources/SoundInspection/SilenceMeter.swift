import AudioBasics

/// A meter of the silence in a sound: frames below -60 dBFS in all channels.
struct SilenceMeter {
  /// -60 dBFS.
  private static let threshold: Float = 0.001

  /// Frames that a pause lasts at least: between loud samples of one tone there is no silence.
  private let leastFrames: Int
  private var frames = 0
  private var firstLoud: Int?
  private var lastLoud = -1
  private var pauseFrames = 0

  init(sampleRate: Int) { leastFrames = max(1, sampleRate / 2) }

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
      } else if position - lastLoud - 1 >= leastFrames {
        pauseFrames += position - lastLoud - 1
      }
      lastLoud = position
    }
    frames += count
  }

  /// What was found so far.
  var silence: SilentFrames {
    guard let firstLoud else { return SilentFrames(lead: frames, tail: frames, total: frames) }
    let tail = frames - 1 - lastLoud
    return SilentFrames(lead: firstLoud, tail: tail, total: firstLoud + pauseFrames + tail)
  }
}

/// Frames of silence: below -60 dBFS in all channels.
public struct SilentFrames: Sendable, Equatable {
  /// Before the first sound.
  public var lead: Int
  /// Behind the last.
  public var tail: Int
  /// In all, pauses of half a second and more included.
  public var total: Int
}
