// Audio thread.

import AudioBasics
import RealtimeAudio

/// The audio thread's half of a level meter: gathers peaks and powers, and ten times a second puts
/// a reading on a ring for the half that shows it (`MeterView`).
public struct Meter: ~Copyable {
  private var readings: SampleWriter
  private var levels: SampleBuffer
  private let windowFrames: Int
  private var frames = 0

  /// A meter of `channelCount` channels. Its readings go to `readings`, a ring whose frames have
  /// `Meter.readingWidth(channelCount)` samples.
  public init(readings: consuming SampleWriter, channelCount: Int, sampleRate: Int) {
    self.readings = readings
    levels = SampleBuffer(frameCount: 1, channelCount: Self.readingWidth(channelCount))
    windowFrames = max(1, sampleRate / 10)
  }

  /// Samples of a reading: each channel's peak, each channel's sum of squares, and the number of
  /// frames they are of.
  public static func readingWidth(_ channelCount: Int) -> Int {
    2 * channelCount + 1
  }

  /// Measures the first `count` frames of `buffer`.
  @_noLocks
  public mutating func measure(_ buffer: borrowing SampleBuffer, frames count: Int) {
    buffer.measure(frames: count, into: &levels)
    frames &+= count
    guard frames >= windowFrames else { return }
    levels[levels.sampleCount &- 1] = Float(frames)
    // A reading that finds no room is dropped.
    _ = readings.write(levels, frames: 1)
    levels.clear(frames: 1)
    frames = 0
  }
}
