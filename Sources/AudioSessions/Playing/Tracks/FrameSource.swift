import AudioBasics
import AudioFiles
import Glibc

/// Frames to be played, in order, at the rate and with the channels of the unit. Pulled by a
/// `PlayFeeder`; one thread at a time.
public protocol FrameSource: AnyObject {
  /// Fills the first of `buffer`, at most `frames` frames, and returns how many; 0 at the end.
  /// Throws where the source cannot be read.
  func read(into buffer: inout SampleBuffer, frames: Int) throws(FileFailure) -> Int

  /// Samples read so far that were NaN or infinite, and were replaced by silence before a
  /// converter.
  var nonFiniteCount: Int { get }
}

extension FrameSource {
  /// Default: 0.
  public var nonFiniteCount: Int { 0 }
}

/// Sources one after the other, without a gap.
public final class SourceSequence: FrameSource {
  private var sources: [any FrameSource]
  /// Of those that are over.
  private var earlierNonFiniteCount = 0

  /// As those of its sources.
  public var nonFiniteCount: Int {
    sources.reduce(earlierNonFiniteCount) { $0 + $1.nonFiniteCount }
  }

  /// `sources`, in this order.
  public init(_ sources: [any FrameSource]) {
    self.sources = sources
  }

  /// Fills the start of `buffer` and returns how many frames it got; 0 at the end.
  /// Throws what its sources throw.
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

/// So many frames of silence.
public final class SilentSource: FrameSource {
  private var framesLeft: Int

  /// `frameCount` frames.
  public init(frameCount: Int) {
    framesLeft = max(0, frameCount)
  }

  /// Clears the start of `buffer` and returns how many frames of it; 0 at the end. Throws nothing.
  public func read(into buffer: inout SampleBuffer, frames: Int) throws(FileFailure) -> Int {
    let count = min(frames, framesLeft)
    buffer.clear(from: 0, frames: count)
    framesLeft -= count
    return count
  }
}

/// A count-in: a number of beats, each a short click, the first of four higher.
public final class ClickTrack: FrameSource {
  /// Frames of all beats together.
  public let frameCount: Int

  private let beatFrames: Double
  private let sampleRate: Double
  private let channelCount: Int
  private var position = 0

  /// `beats` beats at `tempo` beats a minute; nothing where these are below 0.
  public init(beats: Int, tempo: Double, sampleRate: Int, channelCount: Int) {
    beatFrames = 60 / tempo * Double(sampleRate)
    frameCount = Self.frameCount(beats: beats, tempo: tempo, sampleRate: sampleRate)
    self.sampleRate = Double(sampleRate)
    self.channelCount = max(0, channelCount)
  }

  /// Frames that `beats` beats at `tempo` beats a minute take.
  public static func frameCount(beats: Int, tempo: Double, sampleRate: Int) -> Int {
    max(0, Int(rounding: Double(beats) * (60 / tempo * Double(sampleRate))))
  }

  /// Fills the start of `buffer` and returns how many frames it got; 0 at the end.
  /// Throws nothing.
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
