import AudioBasics
import AudioFiles
import Glibc

/// A source of frames to be played, in order, at the rate and with the channels of the unit. A
/// `PlayFeeder` reads it; one thread at a time.
public protocol FrameSource: AnyObject {
  /// Fills the first frames of `buffer`, at most `frames`, and returns their number; 0 at the end.
  /// Throws if the source cannot be read.
  func read(into buffer: inout SampleBuffer, frames: Int) throws(FileFailure) -> Int

  /// The number of samples read so far that were NaN or infinite, and were replaced by silence.
  var nonFiniteCount: Int { get }
}

extension FrameSource {
  /// Default: 0.
  public var nonFiniteCount: Int { 0 }
}

/// A sequence of sources that are played one after another, without a gap.
public final class SourceSequence: FrameSource {
  private var sources: [any FrameSource]
  /// The count of the sources that are over.
  private var earlierNonFiniteCount = 0

  /// The sum of the counts of its sources.
  public var nonFiniteCount: Int {
    sources.reduce(earlierNonFiniteCount) { $0 + $1.nonFiniteCount }
  }

  /// Creates a sequence of `sources`, in this order.
  public init(_ sources: [any FrameSource]) {
    self.sources = sources
  }

  /// Fills the start of `buffer` and returns the number of frames; 0 at the end. Throws as its
  /// sources do.
  public func read(into buffer: inout SampleBuffer, frames: Int) throws(FileFailure) -> Int {
    while let source = sources.first {
      let count = try source.read(into: &buffer, frames: frames)
      if count > 0 { return count }
      earlierNonFiniteCount += source.nonFiniteCount
      sources.removeFirst()
    }
    return 0
  }
}

/// A source of a number of silent frames.
public final class SilentSource: FrameSource {
  private var framesLeft: Int

  /// Creates a source of `frameCount` silent frames.
  public init(frameCount: Int) {
    framesLeft = max(0, frameCount)
  }

  /// Clears the start of `buffer` and returns the number of frames; 0 at the end. Throws nothing.
  public func read(into buffer: inout SampleBuffer, frames: Int) throws(FileFailure) -> Int {
    let count = min(frames, framesLeft)
    buffer.clear(from: 0, frames: count)
    framesLeft -= count
    return count
  }
}

/// A count-in: a number of beats, each a short click, the first of every four at a higher pitch.
public final class ClickTrack: FrameSource {
  /// The number of frames of all beats together.
  public let frameCount: Int

  private let beatFrames: Double
  private let sampleRate: Double
  private let channelCount: Int
  private var position = 0

  /// Creates `beats` beats at `tempo` beats a minute and `sampleRate` Hz; none if they are below 0.
  public init(beats: Int, tempo: Double, sampleRate: Int, channelCount: Int) {
    beatFrames = 60 / tempo * Double(sampleRate)
    frameCount = Self.frameCount(beats: beats, tempo: tempo, sampleRate: sampleRate)
    self.sampleRate = Double(sampleRate)
    self.channelCount = max(0, channelCount)
  }

  /// Returns the number of frames of `beats` beats at `tempo` beats per minute.
  public static func frameCount(beats: Int, tempo: Double, sampleRate: Int) -> Int {
    max(0, Int(rounding: Double(beats) * (60 / tempo * Double(sampleRate))))
  }

  /// Fills the start of `buffer` and returns the number of frames; 0 at the end. Throws nothing.
  public func read(into buffer: inout SampleBuffer, frames: Int) throws(FileFailure) -> Int {
    let count = min(frames, frameCount - position)
    for frame in 0..<count {
      let value = sample(at: position + frame)
      for channel in 0..<channelCount { buffer[frame * channelCount + channel] = value }
    }
    position += count
    return count
  }

  /// Returns a sample of a beat: 20 ms of a decaying tone, at -12 dBFS.
  private func sample(at frame: Int) -> Float {
    let beat = (Double(frame) / beatFrames).rounded(.down)
    let seconds = (Double(frame) - (beat * beatFrames).rounded(.up)) / sampleRate
    guard seconds >= 0, seconds < 0.02 else { return 0 }
    let pitch = Int(clamping: beat) % 4 == 0 ? 1500.0 : 1000.0
    return Float(0.25 * sin(2 * Double.pi * pitch * seconds) * exp(-seconds * 150))
  }
}
