import AudioDevices
import RealtimeAudio

/// Why a session ended.
public enum StopReason: Sendable {
  /// The time asked for is over.
  case duration
  /// What was played is over.
  case end
  /// A signal or a key of the user.
  case signal, key
  /// The device went away or failed.
  case device(DeviceFailure)
  /// A file could be written no further.
  case disk
}

/// What whoever watches a session may ask it to do.
public enum SessionWish: Sendable {
  /// Goes on.
  case proceed
  /// Ends it for this reason, everything finalised.
  case stop(StopReason)
}

/// What a session tells whoever watches it, on the thread that runs it, ten times a second or more.
public struct SessionMoment {
  /// How far the unit has come.
  public var frames: Int
  /// Levels of the microphone since the last moment.
  public var readings: [MeterReading]
  /// What happened on the timeline since the last moment.
  public var events: [TimelineEvent]
  /// Xruns so far.
  public var captureXruns: Int
  /// Xruns so far.
  public var playbackXruns: Int
  /// Frames lost so far.
  public var lostFrames: Int
  /// What was found of a device that went away, where that is news.
  public var deviceReturn: DeviceReturn?
  /// How two clocks are held together; nil where there is only one.
  public var drift: DriftReading?
}

/// What came of a session.
public struct SessionReport: Sendable {
  /// Why it ended.
  public var stopReason = StopReason.end
  /// The unit's timeline, lost frames included.
  public var frames = 0
  /// Times the input overran.
  public var captureXruns = 0
  /// Times the output ran dry.
  public var playbackXruns = 0
  /// Captured frames that reached nobody.
  public var lostFrames = 0
  /// Every xrun on the timeline.
  public var events: [TimelineEvent] = []
  /// The mean of callback time over period.
  public var loadMean = 0.0
  /// The highest.
  public var loadMax = 0.0
  /// Samples handed to the output that were no number.
  public var notNumbers = 0
  /// Frames from input to output as the driver itself counts them; 0 where it does not.
  public var claimedLatencyFrames = 0
  /// How two clocks were held together at the end; nil where there was only one.
  public var drift: DriftReading?
  /// How each further output did at the end.
  public var further: [FurtherReading] = []
  /// The device did not let itself be stopped or closed in time, and was left to the system.
  public var isDeviceStuck = false
  /// The audio thread's priority; nil where time was virtual and no thread was needed.
  public var priority: GrantedPriority?

  /// Nothing has happened yet.
  public init() {}
}

/// How a session's time passes.
public enum SessionClock: Sendable {
  /// As the device says, on an audio thread of this priority; disk work on threads of its own.
  case real(ThreadPriority)
  /// As fast as the machine can, all on the calling thread, in an order that repeats: for virtual
  /// time, and for devices that keep none.
  case virtual
}
