// Audio thread.

import AudioBasics
import Glibc
import RealtimeAudio

/// The audio thread's half of a level meter: accumulates peaks and powers, and writes a reading to
/// a ring several times per second for the half that displays it (`MeterView`).
public struct Meter: MixerStage, ~Copyable {
  private var readings: SampleWriter
  private var levels: SampleBuffer
  private let windowFrames: Int
  private var frames = 0
  /// Frames until the next reading is due; below one where the period went past that.
  private var framesToReading: Int

  /// Creates a meter of `channelCount` channels. It writes `readingsPerSecond` readings per second
  /// to `readings`, a ring whose frames have `Meter.readingWidth(channelCount)` samples.
  public init(
    readings: consuming SampleWriter, channelCount: Int, sampleRate: Int,
    readingsPerSecond: Int = 10
  ) {
    self.readings = readings
    levels = SampleBuffer(frameCount: 1, channelCount: Self.readingWidth(channelCount))
    windowFrames = max(1, sampleRate / max(1, readingsPerSecond))
    framesToReading = windowFrames
  }

  /// Returns the number of samples in a reading: each channel's peak, each channel's sum of
  /// squares, and the number of frames measured.
  public static func readingWidth(_ channelCount: Int) -> Int {
    requirement(
      (0...SampleBuffer.maximumChannels).contains(channelCount), "A meter has 0 to 1024 channels.")
    return 2 * channelCount + 1
  }

  /// Measures the frames of `bus`.
  @_noLocks
  public mutating func process(_ bus: inout MixerBus) {
    bus.peakBound = bus.buffer.measure(frames: bus.frames, into: &levels)
    frames &+= bus.frames
    framesToReading &-= bus.frames
    guard framesToReading <= 0 else { return }
    // A late reading does not delay the next one, unless a period is longer than a window.
    framesToReading = max(1, framesToReading &+ windowFrames)
    levels[levels.sampleCount &- 1] = Float(frames)
    // A reading that does not fit is dropped.
    _ = readings.write(levels, frames: 1)
    levels.clear(frames: 1)
    frames = 0
  }
}

/// The half of a level meter that displays readings and reads them from the ring. Any one thread.
public struct MeterView: ~Copyable {
  private var readings: SampleReader
  private var reading: SampleBuffer
  private let channelCount: Int

  /// Reads the readings that a `Meter` of `channelCount` channels writes to the ring.
  public init(readings: consuming SampleReader, channelCount: Int) {
    self.readings = readings
    self.channelCount = channelCount
    reading = SampleBuffer(frameCount: 1, channelCount: Meter.readingWidth(channelCount))
  }

  /// Returns the oldest reading that was not returned yet; nil if there is none.
  public mutating func next() -> MeterReading? {
    guard readings.read(into: &reading, frames: 1) == 1 else { return nil }
    let frames = max(1, reading[2 * channelCount])
    var result = MeterReading(peakDBFS: [], rmsDBFS: [], frameCount: Int(clamping: frames))
    for channel in 0..<channelCount {
      let peak = Decibels.level(reading[channel])
      let power = reading[channelCount + channel] / frames
      result.peakDBFS.append(peak)
      // The sum of squares may exceed the range of a float although the samples do not.
      result.rmsDBFS.append(min(peak, Decibels.level(power.squareRoot())))
    }
    return result
  }

  /// Returns the last of the readings that were not returned yet, with the highest peaks of all of
  /// them; nil if there are none.
  public mutating func loudest() -> MeterReading? {
    var readings: [MeterReading] = []
    while let reading = next() { readings.append(reading) }
    return MeterReading(loudestOf: readings)
  }
}
