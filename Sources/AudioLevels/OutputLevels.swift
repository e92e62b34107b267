// Audio thread.

import AudioBasics

/// Clipping and true-peak statistics of an output.
public struct OutputLevels: ~Copyable, Sendable {
  private var peaks: TruePeaks
  /// Frames of which at least one sample is beyond full scale: the output clips them.
  public private(set) var clippedFrames = 0

  /// Levels of an output of `sampleRate` Hz that has played nothing.
  public init(sampleRate: Int, channelCount: Int) {
    peaks = TruePeaks(sampleRate: sampleRate, channelCount: channelCount, isShared: true)
  }

  /// The highest true peak so far, full scale being 1.
  public var truePeak: Float {
    @_noLocks get { peaks.highest }
  }

  /// Looks at the first `frames` frames of `buffer`.
  @_noLocks
  public mutating func add(_ buffer: borrowing SampleBuffer, frames: Int) {
    guard peaks.add(buffer, frames: frames) > 1 else { return }
    clippedFrames &+= buffer.framesAbove(1, from: 0, frames: frames)
  }
}
