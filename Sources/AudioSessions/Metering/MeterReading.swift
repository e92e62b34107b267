/// The levels between one reading and the next.
public struct MeterReading: Sendable, Equatable {
  /// Each channel's highest magnitude in dBFS; -200 for silence.
  public var peakDBFS: [Double]
  /// Each channel's root mean square in dBFS (a full-scale square wave is 0); -200 for silence.
  public var rmsDBFS: [Double]
  /// The number of frames that were measured.
  public var frameCount = 0
}

extension MeterReading {
  /// The last of `readings`, with the highest peaks of all of them; nil if there are none.
  init?(loudestOf readings: [MeterReading]) {
    guard let last = readings.last else { return nil }
    self = last
    for reading in readings.dropLast() {
      for (channel, peak) in reading.peakDBFS.enumerated() where peak > peakDBFS[channel] {
        peakDBFS[channel] = peak
      }
    }
  }
}
