import AudioDevices
import AudioSessions
import LatencyMeasurement

extension DeviceSelection {
  /// Finds the lowest period and headroom with which these devices run without an xrun and with the
  /// margin of `settings`: plays silence with one setting after the other. With the default
  /// settings it takes a few minutes, but no time in virtual time. Call it on a thread that may
  /// block, while no engine uses the devices. The requested period and headroom have no effect; a
  /// requested rate is kept.
  ///
  /// The result is `chosen`, nil if no setting is stable, with all trials. `shouldStop` is called
  /// at least ten times per second, with the search so far; once it returns true the search ends,
  /// and `chosen` is nil.
  ///
  /// Throws `.device` if `settings` are out of range, if the devices cannot be opened for another
  /// reason than that they do not support a setting, or if they fail, and `.file` if the file of a
  /// simulated microphone cannot be played.
  ///
  /// ```swift
  /// let tuning = try DeviceSelection(device: "sim:clock=free").tune()
  /// precondition(tuning.chosen == TuneSetting(periodFrames: 16, headroomFrames: 1))
  /// precondition(tuning.isConfirmed && tuning.trials.allSatisfy { $0.xruns == 0 })
  /// ```
  public func tune(
    _ settings: TuneSettings = TuneSettings(), shouldStop: (Tuning) -> Bool = { _ in false }
  ) throws(OpeningFailure) -> Tuning {
    do throws(DeviceFailure) {
      try settings.validate()
    } catch {
      throw .device(error)
    }
    var settings = settings
    settings.sampleRate = settings.sampleRate ?? request.sampleRate
    var tuning = Tuning(settings)
    while let step = tuning.next() {
      let soFar = tuning
      guard let trial = try trial(of: step, shouldStop: { shouldStop(soFar) }) else { break }
      tuning.note(trial)
    }
    return tuning
  }

  /// Runs one trial. Returns nil if it was stopped.
  private func trial(
    of step: TuneStep, shouldStop: () -> Bool
  ) throws(OpeningFailure) -> TuneTrial? {
    var selection = self
    selection.request.periodFrames = step.setting.periodFrames
    selection.request.headroomFrames = step.setting.headroomFrames
    selection.request.sampleRate = step.sampleRate
    let open: OpenDevice
    do throws(OpeningFailure) {
      open = try OpenDevice(opening: selection)
    } catch {
      guard case .device(let failure) = error, failure.kind == .refused else { throw error }
      return TuneTrial(refused: step, sampleRate: step.sampleRate ?? 0)
    }
    let configuration = open.configuration
    let rate = configuration.sampleRate
    guard step.isGranted(by: configuration) else {
      return TuneTrial(refused: step, sampleRate: rate)
    }
    let report: SessionReport
    do throws(DeviceFailure) {
      report = try open.run(Mixer(configuration), frameLimit: step.frameLimit(at: rate)) {
        snapshot, _ in
        if shouldStop() { return .stop(.request) }
        // One xrun is enough to reject the setting.
        return snapshot.captureXruns + snapshot.playbackXruns > 0 ? .stop(.end) : .proceed
      }
      if let failure = report.failure { throw failure }
    } catch {
      throw .device(error)
    }
    return report.stopReason.isUserRequest ? nil : TuneTrial(step, configuration, report)
  }
}
