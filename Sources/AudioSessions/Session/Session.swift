import AudioDevices
import RealtimeAudio

/// The reason why a session ended.
public enum StopReason: Sendable {
  /// The requested time is over.
  case duration
  /// The end of the played material was reached.
  case end
  /// A signal was received, or the user pressed a key.
  case signal, key
  /// A call requested it, such as `stop` of an engine.
  case request
  /// The device went away or failed.
  case device(DeviceFailure)
  /// A file could not be written any further.
  case disk
  /// The microphone was silent for the given time.
  case silence

  /// Whether the user, or the program on behalf of the user, requested it.
  public var isUserRequest: Bool {
    switch self {
    case .signal, .key, .request: true
    case .duration, .end, .device, .disk, .silence: false
    }
  }
}

/// The return value of a session's watcher: continue or stop.
public enum SessionCommand: Sendable {
  /// Continues the session.
  case proceed
  /// Ends the session for this reason and finalises everything.
  case stop(StopReason)
}

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

  /// The last of `readings`, with the highest peaks of all of them; nil if there are none.
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
  /// The reason for which the session ended.
  public var stopReason = StopReason.end
  /// The failure of the device that ended the session; nil if it ended for another reason.
  public var failure: DeviceFailure? {
    if case .device(let failure) = stopReason { failure } else { nil }
  }
  /// The length of the unit's timeline in frames, including lost frames.
  public var frames = 0
  /// The number of capture overruns.
  public var captureXruns = 0
  /// The number of playback underruns.
  public var playbackXruns = 0
  /// The number of captured frames that reached no file and no output.
  public var lostFrames = 0
  /// Every xrun on the timeline, and every loss and return of a device.
  public var events: [TimelineEvent] = []
  /// The mean busy time of a cycle divided by the duration of a period: 1 is full load.
  public var loadMean = 0.0
  /// The busy time of the longest cycle divided by the duration of a period.
  public var loadMax = 0.0
  /// The number of samples replaced by silence: NaN samples sent to the output, and NaN or infinite
  /// samples in played material.
  public var nanCount = 0
  /// The number of frames from input to output as reported by the driver; 0 if it reports none.
  public var reportedLatencyFrames = 0
  /// The drift between two clocks at the end; nil if there was only one.
  public var drift: DriftReading?
  /// The number of frames by which the delay from input to output was longer at the end than in the
  /// configuration.
  public var addedLatencyFrames: Int { drift?.addedFrames ?? 0 }
  /// The drift and xruns of each secondary output at the end.
  public var secondaryOutputs: [SecondaryOutputReading] = []
  /// Whether a callback, or a call of the device's driver, did not return in time and was left to
  /// the system.
  public var isDeviceStuck = false
  /// The time in seconds before the user requested the end in which the device delivered and
  /// accepted no frames: the input of that time is lost. 0 in virtual time, and for less than two
  /// periods.
  public var stalledSeconds = 0.0
  /// The audio thread's priority; nil in virtual time, which needs no thread.
  public var priority: GrantedPriority?

  /// Creates the report of a session in which nothing has happened yet.
  public init() {}
}

/// The pace of a session: the device's clock, or the maximum speed of the machine.
public enum SessionClock: Sendable {
  /// The device's clock, on an audio thread of this priority; disk work runs on separate threads.
  case real(ThreadPriority)
  /// The maximum speed of the machine, with all work on the calling thread in a reproducible order:
  /// for virtual time, and for devices that keep no time.
  case virtual

  /// Whether the session does not wait for a clock.
  public var isVirtual: Bool { if case .virtual = self { true } else { false } }
}

/// The callbacks of a session, which are also notified of its end. They run on the audio thread.
public protocol SessionCallbacks: DuplexCallbacks, ~Copyable {
  /// Notifies waiting threads that no more data follows. Called after the last cycle, not on the
  /// audio thread.
  mutating func finish()

  /// Throws the reason for which the callbacks do not fit a unit with this configuration, before
  /// the unit starts.
  borrowing func check(_ configuration: DuplexConfiguration) throws(DeviceFailure)
}

extension SessionCallbacks where Self: ~Copyable {
  /// Accepts every configuration. Throws nothing.
  public borrowing func check(_ configuration: DuplexConfiguration) throws(DeviceFailure) {}
}

/// A collector of the data that a running unit publishes: into snapshots, and into the report at
/// the end. Belongs to the thread that runs the session.
struct SessionObserver: ~Copyable {
  let progress: UnitProgress
  let configuration: DuplexConfiguration
  let background: [any BackgroundWork]
  private let frameLimit: Int?
  private var events: EventReader<TimelineEvent>
  private var meter: MeterView?
  private var report = SessionReport()

  /// Creates an observer of the unit that publishes `progress` and `events`, and runs for at most
  /// `frameLimit` frames.
  init(
    _ progress: consuming UnitProgress, events: consuming EventReader<TimelineEvent>,
    meter: consuming MeterView?, _ configuration: DuplexConfiguration,
    background: [any BackgroundWork], frameLimit: Int?
  ) {
    self.progress = progress
    self.configuration = configuration
    self.background = background
    self.frameLimit = frameLimit
    self.events = events
    self.meter = meter
  }

  /// Calls `watch` with a snapshot, and the audio thread's priority if there is such a thread.
  /// Returns the reason for which it stops the session; nil if it does not.
  mutating func ask(
    _ watch: (SessionSnapshot, GrantedPriority?) -> SessionCommand,
    _ priority: GrantedPriority? = nil
  ) -> StopReason? {
    if case .stop(let reason) = watch(snapshot(), priority) { reason } else { nil }
  }

  /// Returns a snapshot with the readings and events since the last one.
  private mutating func snapshot() -> SessionSnapshot {
    var snapshot = SessionSnapshot(
      isRunning: progress.isStarted, frames: progress.frames, readings: [], events: [],
      captureXruns: progress.captureXruns,
      playbackXruns: progress.playbackXruns, lostFrames: progress.lostFrames,
      cycles: progress.cycles, busyNanoseconds: progress.busyNanoseconds,
      deviceReturn: progress.takeReturn(), drift: progress.drift)
    while let event = events.read() { snapshot.events.append(event) }
    while let reading = meter?.next() { snapshot.readings.append(reading) }
    report.events += snapshot.events
    return snapshot
  }

  /// Records a stall if the last cycle ended `nanoseconds` before the end was requested. Two
  /// periods are normal.
  mutating func noteStall(nanoseconds: UInt64) {
    let seconds = Double(nanoseconds) / 1e9
    let normalSeconds = Double(2 * configuration.periodFrames) / Double(configuration.sampleRate)
    guard seconds > normalSeconds else { return }
    report.stalledSeconds = seconds
  }

  /// Records that the device did not return from a call.
  mutating func noteStuckDevice() { report.isDeviceStuck = true }

  /// Returns the failure of a callback, or of a driver, that has not returned for `seconds`.
  func stuckFailure(seconds: Int) -> DeviceFailure {
    progress.isInCallback
      ? .callbackHangs(seconds: seconds) : .stalled(configuration, seconds: seconds)
  }

  /// The reason for the end of a unit that was not stopped by a request.
  var ownEnd: StopReason {
    frameLimit.map { progress.frames >= $0 } == true ? .duration : .end
  }

  /// Returns the report of the session, which had an audio thread if there is a `priority`.
  mutating func conclude(
    _ reason: StopReason, _ priority: GrantedPriority? = nil
  ) -> SessionReport {
    report.stopReason = reason
    report.priority = priority
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
