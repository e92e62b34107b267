import AudioBasics
import AudioFiles
import Glibc

/// A count-in: so many beats, each a short click, the first of four higher.
public final class ClickTrack: FrameSource {
  /// Frames of all beats together.
  public let frameCount: Int

  private let beatFrames: Double
  private let sampleRate: Double
  private let channelCount: Int
  private var position = 0

  /// `beats` beats at `tempo` beats a minute.
  public init(beats: Int, tempo: Double, sampleRate: Int, channelCount: Int) {
    beatFrames = 60 / tempo * Double(sampleRate)
    frameCount = Self.frameCount(beats: beats, tempo: tempo, sampleRate: sampleRate)
    self.sampleRate = Double(sampleRate)
    self.channelCount = channelCount
  }

  /// Frames that `beats` beats at `tempo` beats a minute take.
  public static func frameCount(beats: Int, tempo: Double, sampleRate: Int) -> Int {
    Int(rounding: Double(beats) * (60 / tempo * Double(sampleRate)))
  }

  /// Fills the start of `buffer` and returns how many frames it got; 0 at the end.
  public func read(into buffer: inout SampleBuffer, frames: Int) throws(FileFailure) -> Int {
    let count = min(frames, frameCount - position)
    for frame in 0..<count {
      let value = sample(at: position + frame)
      for channel in 0..<channelCount { buffer[frame * channelCount + channel] = value }
    }
    position += count
    return count
  }

  /// Twenty milliseconds of a tone that dies away, at -12 dBFS.
  private func sample(at frame: Int) -> Float {
    let beat = (Double(frame) / beatFrames).rounded(.down)
    let seconds = (Double(frame) - (beat * beatFrames).rounded(.up)) / sampleRate
    guard seconds >= 0, seconds < 0.02 else { return 0 }
    let pitch = Int(clamping: beat) % 4 == 0 ? 1500.0 : 1000.0
    return Float(0.25 * sin(2 * Double.pi * pitch * seconds) * exp(-seconds * 150))
  }
}
