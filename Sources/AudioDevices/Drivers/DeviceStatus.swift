// Audio thread.
import AudioClocks
import RealtimeAudio

/// The result of a wait for a device's next period.
public enum DeviceReadiness: BitwiseCopyable, Sendable {
  /// A period was captured or, without input, there is room to play one.
  case ready
  /// There is no period, and the sleep was interrupted or reached its limit. The caller waits
  /// again, or stops.
  case waiting
  /// The device stopped because the input overran or the output ran dry. The caller must recover
  /// it.
  case xrun(TimelineEvent.Kind)
  /// The machine was suspended. The caller must recover the device.
  case suspended
  /// The device is gone, or behaves differently than it reported.
  case lost
}

/// The status of a device when a period is ready. There is one snapshot per cycle.
public struct DeviceStatus: BitwiseCopyable, Sendable {
  /// The result of the wait.
  public var readiness = DeviceReadiness.waiting
  /// The time at which the wait found the period (or, without input, room for it), in nanoseconds
  /// of the device's clock. It is later than the newest captured frame by the wake-up delay. Exact
  /// on simulated devices.
  public var periodTime: UInt64 = 0
  /// The time in nanoseconds at which the period was ready for the unit: the start of the cycle's
  /// work.
  public var readyTime: UInt64 = 0
  /// The number of frames lost since the last period. The timeline jumps by this number.
  public var lostFrames = 0
  /// The number of input frames that were lost since the last period while the timeline continued
  /// with silence in their place; nil while the number is not known.
  public var concealedFrames: Int? = 0
  /// The number of frames from input to output as the driver counts them, measured in the first
  /// periods after a start; 0 if it is not known.
  public var reportedLatencyFrames = 0
  /// The drift between two clocks; nil if there is only one.
  public var drift: DriftReading?
  /// The clock of the frames of this cycle; nil if it is only known from the times of the cycles.
  public var unitClock: UnitClock?
  /// Whether one of several devices has an event to report: see `DuplexDriver.takeEvent`. Valid
  /// after every wait, whatever the result.
  public var hasEvents = false

  /// Creates the status of a device that has not delivered anything yet.
  @_noLocks
  public init() {}
}

/// An estimate of the clock of the unit's frames, which is more accurate than the times of its
/// cycles.
public struct UnitClock: BitwiseCopyable, Sendable {
  /// The estimate of the clock.
  public let clock: ClockEstimate
  /// The clock's frame at which this cycle is due.
  public let due: Int
  /// A number that changes whenever the count of the clock's frames is restarted.
  public let epoch: Int

  /// Creates the clock of a cycle that is due when `clock` shows `due`.
  @_noLocks
  public init(_ clock: ClockEstimate, due: Int, epoch: Int) {
    self.clock = clock
    self.due = due
    self.epoch = epoch
  }
}

/// An event of one of several devices, such as its loss or its return, while the others continue.
public struct DeviceEvent: BitwiseCopyable, Sendable {
  /// The kind of the event.
  public var kind: TimelineEvent.Kind
  /// The number of unit frames that were not captured.
  public var frames: Int
  /// The number of these frames that are silence on the timeline, rather than a gap in it.
  public var silentFrames: Int
  /// The index of the secondary output that the event concerns; nil if it concerns none.
  public var outputIndex: Int?

  /// Creates an event of this kind.
  @_noLocks
  public init(
    _ kind: TimelineEvent.Kind, frames: Int = 0, silentFrames: Int = 0, outputIndex: Int? = nil
  ) {
    self.kind = kind
    self.frames = frames
    self.silentFrames = silentFrames
    self.outputIndex = outputIndex
  }
}
