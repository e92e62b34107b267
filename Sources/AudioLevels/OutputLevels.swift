// Audio thread.

import AudioBasics

/// The clipping and true-peak statistics of an output.
public struct OutputLevels: ~Copyable, Sendable {
  private var peaks: TruePeaks
  /// The number of frames with at least one sample beyond full scale, which the output clips.
  public private(set) var clippedFrames = 0

  /// Creates statistics of an output at `sampleRate` Hz that has played nothing.
  public init(sampleRate: Int, channelCount: Int) {
    peaks = TruePeaks(sampleRate: sampleRate, channelCount: channelCount, isShared: true)
  }

  /// The highest true peak so far; full scale is 1.
  public var truePeak: Float {
    @_noLocks get { peaks.highest }
  }

  /// Measures the first `frames` frames of `buffer`.
  @_noLocks
  public mutating func add(_ buffer: borrowing SampleBuffer, frames: Int) {
    guard peaks.add(buffer, frames: frames) > 1 else { return }
    clippedFrames &+= buffer.framesAbove(1, from: 0, frames: frames)
  }
}
