import AudioDevices
import RealtimeAudio

/// Gathers what a running unit publishes into moments, and into the report at the end.
struct SessionObserver: ~Copyable {
  private var events: EventReader
  private var meter: MeterView?
  private(set) var report = SessionReport()

  init(events: consuming EventReader, meter: consuming MeterView?) {
    self.events = events
    self.meter = meter
  }

  /// What happened since it was last asked.
  mutating func moment(_ progress: borrowing UnitProgress) -> SessionMoment {
    var moment = SessionMoment(
      frames: progress.frames, readings: [], events: [], captureXruns: progress.captureXruns,
      playbackXruns: progress.playbackXruns, lostFrames: progress.lostFrames,
      deviceReturn: progress.takeReturn(), drift: progress.drift)
    while let event = events.read() { moment.events.append(event) }
    while let reading = meter?.next() { moment.readings.append(reading) }
    report.events += moment.events
    return moment
  }

  /// The device did not come back from a call.
  mutating func noteStuckDevice() { report.isDeviceStuck = true }

  /// What came of it all.
  mutating func conclude(
    _ progress: borrowing UnitProgress, _ reason: StopReason, sampleRate: Int, periodFrames: Int
  ) -> SessionReport {
    report.stopReason = reason
    report.frames = progress.frames
    report.captureXruns = progress.captureXruns
    report.playbackXruns = progress.playbackXruns
    report.lostFrames = progress.lostFrames
    report.notNumbers = progress.notNumbers
    report.drift = progress.drift
    report.further = progress.further
    report.claimedLatencyFrames = progress.claimedLatencyFrames
    let period = Double(periodFrames) * 1e9 / Double(sampleRate)
    if progress.cycles > 0 {
      report.loadMean = Double(progress.busyNanoseconds) / Double(progress.cycles) / period
      report.loadMax = Double(progress.busiestNanoseconds) / period
    }
    return report
  }
}
