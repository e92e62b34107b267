import AudioBasics
import Glibc
import RealtimeAudio

/// Levels of one tenth of a second.
public struct MeterReading: Sendable, Equatable {
  /// Each channel's highest magnitude in dBFS; -200 for silence.
  public var peakDBFS: [Double]
  /// Each channel's root mean square in dBFS (a full-scale square wave is 0); -200 for silence.
  public var rmsDBFS: [Double]
}

/// The half of a level meter that shows: takes readings off the ring. Any one thread.
public struct MeterView: ~Copyable {
  private var readings: SampleReader
  private var reading: SampleBuffer
  private let channelCount: Int

  /// Reads what a `Meter` of `channelCount` channels puts on the ring.
  public init(readings: consuming SampleReader, channelCount: Int) {
    self.readings = readings
    self.channelCount = channelCount
    reading = SampleBuffer(frameCount: 1, channelCount: Meter.readingWidth(channelCount))
  }

  /// The oldest reading not shown yet.
  public mutating func next() -> MeterReading? {
    guard readings.read(into: &reading, frames: 1) == 1 else { return nil }
    let frames = max(1, reading[2 * channelCount])
    var result = MeterReading(peakDBFS: [], rmsDBFS: [])
    for channel in 0..<channelCount {
      result.peakDBFS.append(Decibels.level(reading[channel]))
      let power = reading[channelCount + channel] / frames
      result.rmsDBFS.append(Decibels.level(power.squareRoot()))
    }
    return result
  }
}
