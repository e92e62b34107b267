import AudioDevices
import RealtimeAudio

/// The reason why a session ended.
public enum StopReason: Sendable {
  /// The time asked for is over.
  case duration
  /// What was played is over.
  case end
  /// A signal or a key of the user.
  case signal, key
  /// A call asked for it, such as `stop` of an engine.
  case request
  /// The device went away or failed.
  case device(DeviceFailure)
  /// A file could be written no further.
  case disk
  /// The microphone was silent for as long as was asked for.
  case silence

  /// Whether the user, or the program for the user, asked for it.
  public var isOfTheUser: Bool {
    switch self {
    case .signal, .key, .request: true
    case .duration, .end, .device, .disk, .silence: false
    }
  }
}

/// The answer of a session's watcher: go on, or stop.
public enum SessionCommand: Sendable {
  /// Goes on.
  case proceed
  /// Ends it for this reason, everything finalised.
  case stop(StopReason)
}

/// A snapshot of a session for its watcher, on the thread that runs it, ten times a second or more.
public struct SessionMoment {
  /// Whether the device was started.
  public var isRunning = true
  /// How far the unit has come.
  public var frames: Int
  /// Levels of the microphone since the last moment.
  public var readings: [MeterReading]
  /// What happened on the timeline since the last moment.
  public var events: [TimelineEvent]
  /// Times the input overran so far.
  public var captureXruns: Int
  /// Times the output ran dry so far.
  public var playbackXruns: Int
  /// Frames lost so far.
  public var lostFrames: Int
  /// Cycles run so far.
  public var cycles = 0
  /// Nanoseconds spent in callbacks and conversion so far.
  public var busyNanoseconds: UInt64 = 0
  /// What was found of a device that went away, where that is news.
  public var deviceReturn: DeviceReturn?
  /// The drift between two clocks; nil where there is only one.
  public var drift: DriftReading?

  /// The last of `readings`, with the highest peaks of all of them; nil where there are none.
  public var loudestReading: MeterReading? {
    guard var loudest = readings.last else { return nil }
    for reading in readings.dropLast() {
      for (channel, peak) in reading.peakDBFS.enumerated()
      where peak > loudest.peakDBFS[channel] { loudest.peakDBFS[channel] = peak }
    }
    return loudest
  }
}

/// The result of a session: why it ended, its frames, xruns, events, load and latency.
public struct SessionReport: Sendable {
  /// Why it ended.
  public var stopReason = StopReason.end
  /// The unit's timeline, lost frames included.
  public var frames = 0
  /// Times the input overran.
  public var captureXruns = 0
  /// Times the output ran dry.
  public var playbackXruns = 0
  /// Captured frames that reached no file and no output.
  public var lostFrames = 0
  /// Every xrun on the timeline, and every loss and return of a device.
  public var events: [TimelineEvent] = []
  /// The mean of a cycle's busy time over the length of a period: 1 is all of it.
  public var loadMean = 0.0
  /// The same of the longest cycle.
  public var loadMax = 0.0
  /// Samples that became silence: handed to the output as NaN, or read from what was played as NaN
  /// or infinite and converted to another rate or speed.
  public var nanCount = 0
  /// Frames from input to output as the driver itself counts them; 0 where it does not.
  public var reportedLatencyFrames = 0
  /// The drift between two clocks at the end; nil where there was only one.
  public var drift: DriftReading?
  /// Frames by which the delay from input to output was longer at the end than the configuration
  /// says.
  public var addedLatencyFrames: Int { drift?.addedFrames ?? 0 }
  /// The drift and xruns of each secondary output at the end.
  public var secondaryOutputs: [SecondaryOutputReading] = []
  /// A callback, or a call of the device's driver, did not return in time, and was left to the
  /// system.
  public var isDeviceStuck = false
  /// Seconds in which the device delivered nothing and took nothing before the user asked for the
  /// end: what came in that time is lost. 0 in virtual time, and for less than two periods.
  public var stalledSeconds = 0.0
  /// The audio thread's priority; nil where time was virtual and no thread was needed.
  public var priority: GrantedPriority?

  /// Nothing has happened yet.
  public init() {}
}

/// The pace of a session: the device's clock, or as fast as the machine can.
public enum SessionClock: Sendable {
  /// As the device says, on an audio thread of this priority; disk work on threads of its own.
  case real(ThreadPriority)
  /// As fast as the machine can, all on the calling thread, in an order that repeats: for virtual
  /// time, and for devices that keep none.
  case virtual

  /// Whether nothing is waited for.
  public var isVirtual: Bool { if case .virtual = self { true } else { false } }
}

/// The callbacks of a session, which are told when it is over, too.
/// They run on the audio thread.
public protocol SessionCallbacks: DuplexCallbacks, ~Copyable {
  /// Says so to the threads that wait for more, off the audio thread. After the last cycle.
  mutating func finish()

  /// Throws why they do not fit a unit with this configuration, before it starts.
  borrowing func check(_ configuration: DuplexConfiguration) throws(DeviceFailure)
}

extension SessionCallbacks where Self: ~Copyable {
  /// They fit all. Throws nothing.
  public borrowing func check(_ configuration: DuplexConfiguration) throws(DeviceFailure) {}
}

/// Gathers what a running unit publishes into moments, and into the report at the end.
struct SessionObserver: ~Copyable {
  private var events: EventReader<TimelineEvent>
  private var meter: MeterView?
  private(set) var report = SessionReport()

  init(events: consuming EventReader<TimelineEvent>, meter: consuming MeterView?) {
    self.events = events
    self.meter = meter
  }

  /// A snapshot with the readings and events since the last one.
  mutating func moment(_ progress: borrowing UnitProgress) -> SessionMoment {
    var moment = SessionMoment(
      isRunning: progress.isStarted, frames: progress.frames, readings: [], events: [],
      captureXruns: progress.captureXruns,
      playbackXruns: progress.playbackXruns, lostFrames: progress.lostFrames,
      cycles: progress.cycles, busyNanoseconds: progress.busyNanoseconds,
      deviceReturn: progress.takeReturn(), drift: progress.drift)
    while let event = events.read() { moment.events.append(event) }
    while let reading = meter?.next() { moment.readings.append(reading) }
    report.events += moment.events
    return moment
  }

  /// The end was asked for when the last cycle was that long ago. Two periods may be.
  mutating func noteStall(nanoseconds: UInt64, _ configuration: DuplexConfiguration) {
    let seconds = Double(nanoseconds) / 1e9
    let usual = Double(2 * configuration.periodFrames) / Double(configuration.sampleRate)
    guard seconds > usual else { return }
    report.stalledSeconds = seconds
  }

  /// The device did not come back from a call.
  mutating func noteStuckDevice() { report.isDeviceStuck = true }

  /// The report of the session.
  mutating func conclude(
    _ progress: borrowing UnitProgress, _ reason: StopReason, _ configuration: DuplexConfiguration,
    _ background: [any BackgroundWork]
  ) -> SessionReport {
    report.stopReason = reason
    report.frames = progress.frames
    report.captureXruns = progress.captureXruns
    report.playbackXruns = progress.playbackXruns
    report.lostFrames = progress.lostFrames
    report.nanCount = background.reduce(progress.nanCount) { $0 + $1.nonFiniteCount }
    report.drift = progress.drift
    report.secondaryOutputs = progress.secondaryOutputs
    report.reportedLatencyFrames = progress.reportedLatencyFrames
    let period = Double(configuration.periodFrames) * 1e9 / Double(configuration.sampleRate)
    if progress.cycles > 0 {
      report.loadMean = Double(progress.busyNanoseconds) / Double(progress.cycles) / period
      report.loadMax = Double(progress.busiestNanoseconds) / period
    }
    return report
  }
}
