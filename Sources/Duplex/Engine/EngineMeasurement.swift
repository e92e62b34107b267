import AudioDevices
import AudioSessions
import LatencyMeasurement
import RealtimeAudio

/// A measurement of the round trip on the devices of an engine, in place of a run: no mixer, player
/// or recording takes part. Belongs to the engine's thread.
struct EngineMeasurement {
  private let worker: EngineWorker
  private let isCancelled: AtomicFlag

  /// Measures for `worker` until `isCancelled` is raised, or the engine is stopped.
  init(_ worker: EngineWorker, _ isCancelled: AtomicFlag) {
    self.worker = worker
    self.isCancelled = isCancelled
  }

  /// Returns the result, or the reason for which there is none.
  func run(_ settings: RoundTripSettings) -> Result<RoundTripMeasurement, EngineFailure> {
    let reservation = CardReservation()
    defer { reservation.release() }
    var report = SessionReport()
    do throws(EngineFailure) {
      let measured = try measured(settings, reservation, &report)
      worker.noteStopped(report, nil)
      return .success(measured)
    } catch {
      if case .device(let failure) = error { report.stopReason = .device(failure) }
      worker.noteStopped(report, error)
      return .failure(error)
    }
  }

  private var isOver: Bool { isCancelled.isRaised || worker.isStopRequested }

  private func measured(
    _ settings: RoundTripSettings, _ reservation: CardReservation, _ report: inout SessionReport
  ) throws(EngineFailure) -> RoundTripMeasurement {
    let open = try opened(reservation)
    let configuration = open.configuration
    let listener: ProbeListener
    do throws(DeviceFailure) {
      let plan = try ProbePlan(configuration, settings)
      var probe = ProbeSession(plan, periodFrames: configuration.periodFrames)
      listener = probe.listener
      // A new session has its callbacks.
      guard let callbacks = probe.takeCallbacks() else { throw .probeGone }
      report = try run(callbacks, listener, on: open)
    } catch {
      throw .device(error)
    }
    if let failure = report.failure { throw .device(failure) }
    guard !report.stopReason.isUserRequest else { throw .stopped }
    let trips = listener.result
    guard let measured = RoundTripMeasurement(trips, configuration, report) else {
      throw .noRoundTrip(trips.failure ?? .lostFrames(count: trips.rejected))
    }
    return measured
  }

  /// Opens the devices. Throws `.stopped` if the result is no longer wanted meanwhile.
  private func opened(_ reservation: CardReservation) throws(EngineFailure) -> OpenDevice {
    let opening = try DeviceOpening(worker.selection, reservation)
    while !opening.isDone.isRaised, !isOver { HostClock.pause(milliseconds: 1) }
    guard !isOver else {
      opening.abandon()
      throw .stopped
    }
    return try opening.finish()
  }

  private func run(
    _ callbacks: consuming ProbeCallbacks, _ listener: ProbeListener, on open: consuming OpenDevice
  ) throws(DeviceFailure) -> SessionReport {
    let configuration = open.configuration
    let isVirtual = open.clock.isVirtual
    var isReported = false
    return try open.run(callbacks, background: [listener]) { snapshot, priority in
      if snapshot.isRunning, !isReported {
        isReported = true
        worker.noteRunning(configuration, worker.selection)
      }
      worker.publish { $0.follow(snapshot, configuration, priority) }
      for event in snapshot.events { worker.events.send(.timeline(event)) }
      if isOver { return .stop(.request) }
      if listener.isDone { return .stop(.end) }
      if !isVirtual { HostClock.pause(milliseconds: 5) }
      return .proceed
    }
  }
}

extension DeviceFailure {
  /// The failure of a measurement whose callbacks were taken before.
  fileprivate static var probeGone: DeviceFailure {
    DeviceFailure(.refused, "The probe is gone.", hint: "Measure again.")
  }
}
