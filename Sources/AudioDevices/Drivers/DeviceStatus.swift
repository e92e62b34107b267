// Audio thread.
import AudioClocks
import RealtimeAudio

/// The result of waiting for a device's next period.
public enum DeviceReadiness: BitwiseCopyable, Sendable {
  /// A period was captured (or, with no input, there is room for one to play).
  case ready
  /// Nothing happened, and the sleep was interrupted or long enough: ask again, or stop.
  case waiting
  /// The device stopped because the input overran or the output ran dry: recover it.
  case xrun(TimelineEvent.Kind)
  /// The machine slept: recover it.
  case suspended
  /// The device is gone, or does not do what it said.
  case lost
}

/// The status of a device when a period is ready: one snapshot a cycle.
public struct DeviceStatus: BitwiseCopyable, Sendable {
  /// What the wait found.
  public var readiness = DeviceReadiness.waiting
  /// When the wait found the period (or, with no input, room for it), in nanoseconds of the
  /// device's clock: later than the newest captured frame by the delay of the wake-up. Exact on
  /// simulated devices.
  public var periodTime: UInt64 = 0
  /// When the period was found: where the cycle's work begins.
  public var readyTime: UInt64 = 0
  /// Frames lost since the last period, by which the timeline jumps.
  public var lostFrames = 0
  /// Frames of the input that were lost since the last period while the timeline went on, with
  /// silence in their places; nil while it is not known how many.
  public var concealedFrames: Int? = 0
  /// Frames from input to output as the driver itself counts them, measured in the first periods
  /// after a start; 0 where it is not known.
  public var reportedLatencyFrames = 0
  /// The drift between two clocks; nil where there is only one.
  public var drift: DriftReading?
  /// The clock that the frames of this cycle go by; nil where it is not known better than by the
  /// times of the cycles.
  public var unitClock: UnitClock?
  /// Whether one of several devices has an event to report: see `DuplexDriver.takeEvent`. Known
  /// after every wait, whatever it found.
  public var hasEvents = false

  /// The status of a device that has not delivered anything yet.
  @_noLocks
  public init() {}
}

/// An estimate of the clock that the unit's frames follow, better than the times of its cycles.
public struct UnitClock: BitwiseCopyable, Sendable {
  /// Estimate of the clock that the unit's frames follow.
  public let clock: ClockEstimate
  /// The clock's frame at which this cycle is due.
  public let due: Int
  /// A number that changes whenever the clock's frames are counted anew.
  public let epoch: Int

  /// A cycle that is due when `clock` shows `due`.
  @_noLocks
  public init(_ clock: ClockEstimate, due: Int, epoch: Int) {
    self.clock = clock
    self.due = due
    self.epoch = epoch
  }
}

/// An event of one of several devices, such as its loss or its return, while the others go on.
public struct DeviceEvent: BitwiseCopyable, Sendable {
  /// The kind of the event.
  public var kind: TimelineEvent.Kind
  /// Frames of the unit's that were not captured meanwhile; for a secondary output its number.
  public var frames: Int
  /// How many of them were silence on the timeline, rather than a gap in it.
  public var silentFrames: Int

  /// An event of this kind.
  @_noLocks
  public init(_ kind: TimelineEvent.Kind, frames: Int = 0, silentFrames: Int = 0) {
    self.kind = kind
    self.frames = frames
    self.silentFrames = silentFrames
  }
}
