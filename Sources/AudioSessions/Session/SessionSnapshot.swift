import AudioDevices

/// A snapshot of a session for its watcher, on the thread that runs the session, at least ten times
/// per second.
public struct SessionSnapshot {
  /// Whether the device was started.
  public var isRunning = true
  /// The number of frames that the unit has processed so far.
  public var frames: Int
  /// The microphone's levels since the last snapshot.
  public var readings: [MeterReading]
  /// The timeline events since the last snapshot.
  public var events: [TimelineEvent]
  /// The number of capture overruns so far.
  public var captureXruns: Int
  /// The number of playback underruns so far.
  public var playbackXruns: Int
  /// The number of frames lost so far.
  public var lostFrames: Int
  /// The number of cycles run so far.
  public var cycles = 0
  /// The time in nanoseconds spent in callbacks and conversion so far.
  public var busyNanoseconds: UInt64 = 0
  /// The latest result of the search for a device that went away, if it is worth reporting;
  /// otherwise nil.
  public var deviceReturn: DeviceReturn?
  /// The drift between two clocks; nil if there is only one.
  public var drift: DriftReading?

  /// Returns the mean busy time of a cycle so far, divided by the duration of a period of a unit
  /// with this configuration: 1 is full load.
  public func loadMean(_ configuration: DuplexConfiguration) -> Double {
    guard cycles > 0, configuration.periodFrames > 0 else { return 0 }
    return Double(busyNanoseconds) / Double(cycles) / configuration.periodNanoseconds
  }

  /// The last of `readings`, with the highest peaks of all of them; nil if there are none.
  public var loudestReading: MeterReading? { MeterReading(loudestOf: readings) }
}
