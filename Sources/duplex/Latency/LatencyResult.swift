import AudioBasics
import AudioDevices
import AudioFiles
import DelayEstimation
import LatencyMeasurement
import Reports

/// The result of a measurement, as text, as an event, as a settings file and as a report.
struct LatencyResult {
  private let trips: RoundTrips
  private let configuration: DuplexConfiguration
  private let sessions: SessionTotals
  /// The judged round trips; nil if there are none.
  private let measured: RoundTripMeasurement?

  init(_ trips: RoundTrips, _ configuration: DuplexConfiguration, _ sessions: SessionTotals) {
    self.trips = trips
    self.configuration = configuration
    self.sessions = sessions
    measured = RoundTripMeasurement(trips, configuration, sessions.report)
  }

  func conclude(_ command: LatencyCommand) throws -> ExitStatus {
    var status = ExitStatus.done
    let estimate = measured?.roundTrip
    if let failure = sessions.report.stopReason.failure {
      ToolFailure(failure).report()
      status = .loss
    } else if estimate == nil {
      let failure =
        sessions.isInterrupted
        ? .stopped(before: "measured; nothing is saved") : noSignal(command)
      failure.report()
      status = failure.status
    }
    let fields = fields(estimate)
    var kept: [String] = []
    // The result is printed even if it cannot be saved.
    if let failure = keep(estimate, .summary(fields), command, &kept) {
      failure.report()
      status = failure.status
    }
    if command.audio.json {
      Terminal.emit(.summary(fields + .written(kept)))
    } else if let estimate {
      Terminal.printLines(lines(estimate))
    }
    return status
  }

  /// Saves the result and writes the report, each if it is requested. Returns the failure, or nil.
  /// Adds the paths of the written files to `kept`.
  private func keep(
    _ estimate: RoundTripEstimate?, _ summary: Event, _ command: LatencyCommand,
    _ kept: inout [String]
  ) -> ToolFailure? {
    guard let estimate else { return nil }
    let objection = command.save ? estimate.objection : nil
    do throws(ToolFailure) {
      try mappingErrors {
        if command.save, objection == nil {
          let path = try SavedRoundTrip.save(summary, for: configuration)
          kept.append(path)
          inform("kept", "Saved in \(path).")
        }
        let picture = estimate.picture(
          configuration, unitFrames: unitFrames,
          claimedFrames: sessions.report.reportedLatencyFrames)
        try command.picture.write(svg: picture.svg, html: picture.html)
        if let path = command.picture.report { kept.append(path) }
      }
    } catch {
      return error
    }
    return objection.map {
      .doubtful(
        "The result is not saved, because it is doubtful: \($0).",
        hint: "Remove the cause and measure again, or give overdub the time: "
          + "\(estimate.latencyOption).")
    }
  }

  private func noSignal(_ command: LatencyCommand) -> ToolFailure {
    if command.listen != nil {
      return ToolFailure.noSignal(
        "The sound of --reference was not found in the recording.",
        hint: "Check that the recording is of this reference, and that its sound is not cut off.")
    }
    // If the measurement ended early, or if xruns disturbed it, a missing cable is not the cause.
    if case .end = sessions.report.stopReason {
    } else {
      return ToolFailure.noSignal(
        "The measurement ended before the input received the test signal.",
        hint: "Use a longer --duration, or leave --duration out.")
    }
    if trips.rejected > 0 {
      return ToolFailure.lostSignal(
        "Frames were lost in every measurement (\(trips.rejected) rejected).")
    }
    let noise =
      trips.noiseDBFS > -200
      ? "the input's noise is at \(trips.noiseDBFS.shownLevel) dBFS"
      : "the input is digital silence"
    return ToolFailure.noSignal(
      "The input received no test signal, at peaks up to \(trips.levelDBFS.shownLevel) dBFS; \(noise).",
      hint: "Check that neither side is muted, that the cable is in the right jacks, that phantom "
        + "power is on if the microphone wants it, that the mixer plays the computer and not the "
        + "monitor mix; then try a higher --level.")
  }

  /// The round trips of all pairs of channels.
  private var estimates: [RoundTripEstimate] { measured?.estimates ?? [] }

  /// The latency of this program between input and output, in frames.
  private var unitFrames: Double { configuration.latencyFrames(with: sessions.report.drift) }

  private func fields(_ estimate: RoundTripEstimate?) -> Fields {
    let claimed = sessions.report.reportedLatencyFrames
    return .summary(of: "latency", sessions.report, configuration)
      + RoundTripEstimate.fields(estimate, rejected: trips.rejected) + [
        "bufferFrames": unitFrames.digits(4),
        "externalFrames": measured.map { $0.externalFrames.digits(4) },
        "claimedFrames": claimed > 0 ? claimed : nil,
        "levelDBFS": trips.levelDBFS.digits(2), "noiseDBFS": trips.noiseDBFS.digits(2),
        "clipped": trips.isClipped, "periodFrames": configuration.periodFrames,
        "headroomFrames": configuration.headroomFrames,
        "pairs": estimates.map(\.pairFields),
      ]
  }

  private func lines(_ estimate: RoundTripEstimate) -> [String] {
    let rate = Double(configuration.sampleRate)
    func both(_ frames: Double) -> String {
      "\(frames.shown(3)) frames (\((frames * 1000 / rate).shown(3)) ms)"
    }
    let claimed = sessions.report.reportedLatencyFrames
    var lines = [
      "Round trip \(both(estimate.frames)), output \(estimate.pair.fromChannel + 1) to input "
        + "\(estimate.pair.toChannel + 1)\(estimate.isInverted ? ", inverted" : "").",
      "  buffers of this program \(both(unitFrames))",
      "  driver, converters and wire \(both(estimate.frames - unitFrames))",
    ]
    if claimed > 0 { lines.append("  latency that the device reports \(both(Double(claimed)))") }
    lines += estimate.lines(rejected: trips.rejected)
    for other in estimates
    where other.pair.fromChannel != estimate.pair.fromChannel
      || other.pair.toChannel != estimate.pair.toChannel
    {
      lines.append(
        "  output \(other.pair.fromChannel + 1) to input \(other.pair.toChannel + 1): "
          + "\(both(other.frames)), signal to noise \(other.signalToNoise) dB"
          + (other.objection == nil ? "" : ", doubtful"))
    }
    if trips.isClipped {
      lines.append("  The input clipped: lower the input gain for a more exact result.")
    }
    return lines
  }
}
