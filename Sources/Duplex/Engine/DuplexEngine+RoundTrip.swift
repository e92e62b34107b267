import LatencyMeasurement
import RealtimeAudio

extension DuplexEngine {
  /// Measures the round trip of the engine's devices, from an output through a cable or the air to
  /// an input, while the engine does not run: plays quiet bursts of noise, each louder than the one
  /// before, until the input receives them clearly, then measures `settings.repeats` times. It
  /// takes two seconds and a little more than one for each measurement, and no time in virtual
  /// time.
  ///
  /// The result is judged: `roundTrip.verdict` of a round trip that must not be used to align
  /// recordings is `.refused`, and `roundTrip.doubts` has the reasons. `stored` is the value to
  /// keep. Meanwhile the phase of the engine is that of a run, and its events are sent, but no
  /// microphone is played, and no player, effect or recording takes part: recordings that are
  /// requested begin with the next run. `stop` ends the measurement, and so does the cancellation
  /// of the task.
  ///
  /// Throws `.noRoundTrip` if nothing of the signal was received, `.stopped` after a stop or a
  /// cancellation, `.alreadyRunning` if the engine runs or measures already, and `.device` if the
  /// devices cannot be opened, have no input or no output, or fail, or if `settings` do not fit
  /// them.
  ///
  /// ```swift
  /// let engine = DuplexEngine(device: "sim:clock=free,delay=300.5")
  /// let measured = try await engine.measureRoundTrip()
  /// if measured.roundTrip.verdict != .refused { print(measured.roundTrip.frames) }
  /// precondition(abs(measured.roundTrip.frames - 812.5) < 0.01)
  /// ```
  public func measureRoundTrip(
    _ settings: RoundTripSettings = RoundTripSettings()
  ) async throws(EngineFailure) -> RoundTripMeasurement {
    try thread.begin()
    let isCancelled = AtomicFlag()
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        worker.measure(settings, isCancelled: isCancelled) { continuation.resume(returning: $0) }
      }
    } onCancel: {
      isCancelled.raise()
    }
    return try result.get()
  }
}
