import AudioBasics
import AudioDevices
import AudioSessions
import RealtimeAudio

/// A run of an engine from a start to its stop: sessions on one device after another, and the
/// recordings that outlive these sessions. Belongs to the engine's thread.
final class EngineRun {
  private let worker: EngineWorker
  private let work = SharedWork()
  private let reservation = CardReservation()
  private var selection: DeviceSelection
  private var parts = MixerParts()
  private var recordings: EngineRecordings
  private var report = SessionReport()
  /// The progress of the sessions that are over.
  private var progress = RunProgress()
  /// The figures of their outputs.
  private var outputFigures = OutputFigures()
  private var isStopping = false
  private var change: DeviceChange?
  /// Whether the session ends because the devices of `change` replace the current ones.
  private var isSwitchingDevices = false
  /// Requests that arrived while devices were being opened; the session on these devices executes
  /// them first.
  private var postponed: [EngineRequest] = []

  init(_ worker: EngineWorker) {
    self.worker = worker
    selection = worker.selection
    recordings = EngineRecordings(worker, work)
  }

  /// Runs for `seconds`, or until it is stopped if that is nil, and records `pending` from the
  /// first frame. Returns the recordings that wait for the next start, since the devices of this
  /// start could not be opened.
  func run(seconds: Double?, _ pending: [EngineRecording]) -> [EngineRecording] {
    defer { reservation.release() }
    var waiting = pending[...]
    do throws(EngineFailure) {
      try worker.settings.validate(selection)
      let open = try opened(selection)
      let isVirtual = open.clock.isVirtual
      try work.beginSession(isVirtual: isVirtual)
      while let recording = waiting.popFirst() {
        try recordings.beginFirst(
          recording, open.configuration, isVirtual: isVirtual, on: &parts)
      }
      try runSessions(open, seconds: seconds)
      finish(nil)
    } catch {
      if case .device(let failure) = error { report.stopReason = .device(failure) }
      finish(error)
      if case .stopped = error {
        for recording in waiting { recording.complete(RecordingReport()) }
        return []
      }
    }
    // The recordings that were stopped during the run are complete.
    return waiting.filter { $0.report == nil }
  }

  private func finish(_ failure: EngineFailure?) {
    change?.cancel(.stopped)
    worker.publish { status in
      status.phase = .stopping
      // The last cycles may have followed the last status.
      status.follow(outputFigures)
    }
    parts.finishRecorders()
    recordings.finishAll()
    // These requests arrived too late.
    for request in takeRequests() { request.refuse() }
    worker.noteStopped(report, failure)
  }

  private func runSessions(
    _ first: consuming OpenDevice, seconds: Double?
  ) throws(EngineFailure) {
    var open: OpenDevice? = first
    while let device = open.take() {
      let isVirtual = device.clock.isVirtual
      let rate = device.configuration.sampleRate
      let limit = seconds.map { progress.frame(atSecond: $0, sampleRate: rate) }
      let isOver = try runSession(on: device, limit: limit)
      progress.advance(toFrame: report.frames, sampleRate: rate)
      guard !isOver, !isStopping, let change = change.take() else { return }
      open = try changed(change, isVirtual: isVirtual)
    }
  }

  /// Runs a session on these devices. Returns whether the run has ended by itself, regardless of a
  /// requested change of devices.
  private func runSession(
    on open: consuming OpenDevice, limit: Int?
  ) throws(EngineFailure) -> Bool {
    let configuration = open.configuration
    let clock = open.clock
    var isReported = false
    isSwitchingDevices = false
    let ran: SessionReport
    do throws(DeviceFailure) {
      var session = try EngineSession(
        configuration, worker.settings, worker.control, player: worker.player, &parts)
      let runner = session.runner(
        on: open, resuming: parts.end, work: work, frameLimit: limit,
        reconnects: worker.settings.reconnects)
      ran = try runner.run(clock: clock) { snapshot, priority in
        if snapshot.isRunning, !isReported {
          isReported = true
          worker.noteRunning(configuration, selection)
        }
        return watch(snapshot, priority, &session, configuration, isVirtual: clock.isVirtual)
      }
      outputFigures = outputFigures.followed(by: session.outputFigures)
      // A device that hangs keeps its mixer.
      if var left = session.handoffs.takeParts() {
        // A session without a cycle has not moved the timeline.
        left.end = left.end ?? parts.end
        parts = left
      } else {
        recordings.abandon()
      }
      recordings.settle(&parts, session.handoffs)
    } catch {
      worker.player.detach()
      // The mixer is lost with its unfinished recorders: the recordings end with the data received
      // so far.
      recordings.abandon()
      throw .device(error)
    }
    report.add(ran, at: 0)
    if let failure = ran.failure { reportLoss(failure) }
    if let limit, ran.frames >= limit { return true }
    if case .device = ran.stopReason { return false }
    return !isSwitchingDevices
  }

  /// Reports that the device went away for good. A unit reports this itself if it waits for the
  /// device.
  private func reportLoss(_ failure: DeviceFailure) {
    guard failure.kind == .lost, !worker.settings.reconnects else { return }
    let event = TimelineEvent(kind: .deviceLost, frame: report.frames, frames: 0)
    report.events.append(event)
    worker.events.send(.timeline(event))
  }

  // MARK: While sound runs

  private func watch(
    _ snapshot: SessionSnapshot, _ priority: GrantedPriority?, _ session: inout EngineSession,
    _ configuration: DuplexConfiguration, isVirtual: Bool
  ) -> SessionCommand {
    worker.publish { status in
      status.follow(snapshot, configuration, priority, after: report)
      status.earlier = progress
      status.follow(
        outputFigures.followed(by: session.outputFigures), session.nextOutputLevels(),
        configuration)
      status.limiterDelayFrames = session.limiterDelayFrames
    }
    for event in snapshot.events { worker.events.send(.timeline(event)) }
    while let event = session.nextFeedback() { worker.events.send(.feedback(event)) }
    // Requests that arrive while the session ends for other devices are left to the next session.
    for request in takeRequests() {
      isSwitchingDevices
        ? postpone(request) : perform(request, session.handoffs, configuration, isVirtual)
    }
    recordings.poll(session.handoffs)
    if worker.isQuitting { isStopping = true }
    if isStopping { return .stop(.request) }
    if isSwitchingDevices { return .stop(.end) }
    switch change?.poll(used: selection, isVirtual: isVirtual) {
    // A recording may have begun since the change was requested.
    case .ready where !suits(change?.selection, configuration):
      change?.cancel(.recordingAtRate(configuration.sampleRate))
      change = nil
    case .ready:
      isSwitchingDevices = true
      return .stop(.end)
    case .failed: change = nil
    case .opening, nil: break
    }
    if !isVirtual { HostClock.pause(milliseconds: 5) }
    return .proceed
  }

  /// Returns the requests since the last call, in order.
  private func takeRequests() -> [EngineRequest] {
    defer { postponed = [] }
    return postponed + worker.takeRequests()
  }

  /// Leaves `request` to the next session, except for a stop.
  private func postpone(_ request: EngineRequest) {
    if case .stop = request { isStopping = true } else { postponed.append(request) }
  }

  private func perform(
    _ request: EngineRequest, _ handoffs: borrowing MixerHandoffs,
    _ configuration: DuplexConfiguration, _ isVirtual: Bool
  ) {
    switch request {
    case .stop: isStopping = true
    case .change(let selection, let reply): begin(selection, configuration, reply)
    case .record(let recording, let answer):
      recordings.begin(recording, configuration, isVirtual: isVirtual, handoffs, answer)
    case .endRecording(let recording): recordings.end(recording, handoffs)
    case .start, .measure, .quit: break
    }
  }

  // MARK: Devices

  /// Opens the devices of `selection`, and checks for requests while it waits.
  private func opened(_ selection: DeviceSelection) throws(EngineFailure) -> OpenDevice {
    let opening = try DeviceOpening(selection, reservation)
    do throws(EngineFailure) {
      try wait(for: opening.isDone)
    } catch {
      opening.abandon()
      throw error
    }
    return try opening.finish()
  }

  /// Waits until `isDone` is raised, and checks for requests. Throws `.stopped` if the engine must
  /// stop.
  private func wait(for isDone: AtomicFlag) throws(EngineFailure) {
    while !isDone.isRaised {
      for request in worker.takeRequests() { postpone(request) }
      guard !isStopping, !worker.isQuitting else { throw .stopped }
      recordings.deliverEvents()
      HostClock.pause(milliseconds: 1)
    }
  }

  /// Starts to open the devices of `selection`, at the unit's rate if none is requested.
  private func begin(
    _ selection: DeviceSelection, _ configuration: DuplexConfiguration,
    _ reply: @escaping DeviceChange.Reply
  ) {
    change?.cancel(.superseded)
    change = nil
    var selection = selection
    let rate = configuration.sampleRate
    guard suits(selection, configuration) else { return reply(.failure(.recordingAtRate(rate))) }
    selection.request.sampleRate = selection.request.sampleRate ?? rate
    do throws(EngineFailure) {
      try worker.settings.validate(selection)
      change = try DeviceChange(selection, reservation, reply)
    } catch {
      reply(.failure(error))
    }
  }

  /// Returns whether devices of `selection` may be used now: a recording must keep its rate.
  private func suits(_ selection: DeviceSelection?, _ configuration: DuplexConfiguration) -> Bool {
    let requested = selection?.request.sampleRate ?? configuration.sampleRate
    return requested == configuration.sampleRate || recordings.isEmpty
  }

  /// Returns the devices of `change`; if they cannot be opened, the previous devices.
  private func changed(
    _ change: DeviceChange, isVirtual: Bool
  ) throws(EngineFailure) -> OpenDevice {
    do throws(EngineFailure) {
      // The session may have ended before the devices were open.
      if let isDone = change.isDone { try wait(for: isDone) }
      let open: OpenDevice
      if let device = try change.takeDevice(used: selection, isVirtual: isVirtual) {
        open = device
      } else {
        open = try opened(change.selection)
        try DeviceChange.check(open.clock.isVirtual, isVirtual)
      }
      try work.beginSession(isVirtual: open.clock.isVirtual)
      selection = change.selection
      change.reply(.success(open.configuration))
      return open
    } catch {
      change.reply(.failure(error))
      guard !isStopping, !worker.isQuitting else { throw error }
      return try opened(selection)
    }
  }
}
