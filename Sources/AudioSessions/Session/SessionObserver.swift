import AudioDevices
import RealtimeAudio

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
  /// Whether the audio thread has not returned from a call of the device, and reports nothing more.
  private var isThreadStuck = false
  private let callbackDelayFrames: Int

  /// Creates an observer of the unit that publishes `progress` and `events`, and runs for at most
  /// `frameLimit` frames. Its callbacks delay what they play by `callbackDelayFrames` frames.
  init(
    _ progress: consuming UnitProgress, events: consuming EventReader<TimelineEvent>,
    meter: consuming MeterView?, _ configuration: DuplexConfiguration,
    background: [any BackgroundWork], frameLimit: Int?, callbackDelayFrames: Int
  ) {
    self.callbackDelayFrames = callbackDelayFrames
    self.progress = progress
    self.configuration = configuration
    self.background = background
    self.frameLimit = frameLimit
    self.events = events
    self.meter = meter
  }

  /// Calls `watch` with a snapshot, and the audio thread's priority if there is such a thread.
  /// Returns the reason for which it stops the session; nil if it does not.
  mutating func poll(
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
    if isThreadStuck { snapshot.events += unreportedXruns(after: snapshot.events) }
    while let reading = meter?.next() { snapshot.readings.append(reading) }
    report.events += snapshot.events
    return snapshot
  }

  /// Returns the events of the xruns that were counted, and that no event of the report or `newer`
  /// has: the device did not return from the recovery.
  private func unreportedXruns(after newer: [TimelineEvent]) -> [TimelineEvent] {
    [
      (TimelineEvent.Kind.captureXrun, progress.captureXruns),
      (.playbackXrun, progress.playbackXruns),
    ].flatMap { kind, count in
      let reported = (report.events + newer).count { $0.kind == kind }
      return Array(
        repeating: TimelineEvent(kind: kind, frame: progress.frames, frames: 0),
        count: max(0, count - reported))
    }
  }

  /// Records that the audio thread did not return from a call of the device. The next snapshot has
  /// the events that the thread can no longer write.
  mutating func noteStuckThread() { isThreadStuck = true }

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
    report.configuration = configuration
    report.callbackDelayFrames = callbackDelayFrames
    report.frames = progress.frames
    report.seconds = configuration.seconds(progress.frames)
    report.captureXruns = progress.captureXruns
    report.playbackXruns = progress.playbackXruns
    report.lostFrames = progress.lostFrames
    report.nanCount = background.reduce(progress.nanCount) { $0 + $1.nonFiniteCount }
    report.drift = progress.drift
    report.secondaryOutputs = progress.secondaryOutputs
    report.reportedLatencyFrames = progress.reportedLatencyFrames
    let period = configuration.periodNanoseconds
    if progress.cycles > 0 {
      report.loadMean = Double(progress.busyNanoseconds) / Double(progress.cycles) / period
      report.loadMax = Double(progress.busiestNanoseconds) / period
    }
    return report
  }
}
