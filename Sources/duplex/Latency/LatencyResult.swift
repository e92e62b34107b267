import AudioBasics
import AudioDevices
import AudioFiles
import DelayEstimation
import LatencyMeasurement

/// What a measurement came to, told to a person, a script, a settings file and a report.
struct LatencyResult {
  private let trips: RoundTrips
  private let configuration: DuplexConfiguration
  private let sessions: SessionTotals

  init(_ trips: RoundTrips, _ configuration: DuplexConfiguration, _ sessions: SessionTotals) {
    self.trips = trips
    self.configuration = configuration
    self.sessions = sessions
  }

  func conclude(_ command: LatencyCommand) throws -> ExitStatus {
    var status = ExitStatus.done
    let answer = trips.main.flatMap { PairAnswer($0, configuration.sampleRate) }
    if let failure = sessions.report.stopReason.failure {
      ToolFailure(failure).report()
      status = .loss
    } else if answer == nil {
      let failure =
        sessions.isInterrupted
        ? .stopped(before: "measured; nothing is saved") : noSignal(command)
      failure.report()
      status = failure.status
    }
    let fields = fields(answer)
    var kept: [String] = []
    // What was measured is told in any case.
    if let failure = keep(answer, .summary(fields), command, &kept) {
      failure.report()
      status = failure.status
    }
    if command.audio.json {
      Terminal.emit(.summary(fields + JSON.written(kept)))
    } else if let answer {
      for line in lines(answer) { Terminal.printLine("\(line)") }
    }
    return status
  }

  /// Saves and draws what is to be saved and drawn; answers with what went wrong. `kept` are the
  /// files that are there then.
  private func keep(
    _ answer: PairAnswer?, _ summary: Event, _ command: LatencyCommand, _ kept: inout [String]
  ) -> ToolFailure? {
    guard let answer else { return nil }
    do throws(ToolFailure) {
      try inTermsOfTheTool {
        if command.save, answer.isTrustworthy {
          let path = try SavedRoundTrip.save(summary, for: configuration)
          kept.append(path)
          Notice.info("kept", "Kept in \(path).").report()
        } else if command.save {
          Notice.warning("notKept", "The result is doubtful and was not kept.").report()
        }
        let picture = answer.picture(configuration, sessions.report.claimedLatencyFrames)
        try command.picture.write(svg: picture.svg, html: picture.html)
        if let path = command.picture.report { kept.append(path) }
      }
      return nil
    } catch {
      return error
    }
  }

  private func noSignal(_ command: LatencyCommand) -> ToolFailure {
    if command.listen != nil {
      return ToolFailure(
        .loss, code: "noSignal", "The reference is not to be found in the recording.",
        hint: "Check that both files are of the same take, and that its sound is not cut off.")
    }
    // Ended by hand, or torn by xruns: that is not for lack of a cable.
    if case .end = sessions.report.stopReason {
    } else {
      return ToolFailure(
        .loss, code: "noSignal", "The measurement ended before anything was heard.",
        hint: "Give it some seconds more.")
    }
    if trips.rejected > 0 {
      return ToolFailure(
        .loss, code: "noSignal",
        "Frames were lost in every measurement (\(trips.rejected) thrown away).",
        hint: "Ask for a larger --period-size, or find a stable one with `duplex tune`.")
    }
    return ToolFailure(
      .loss, code: "noSignal",
      "No signal came back, at peaks up to \(trips.levelDBFS.shown(0)) dBFS; the input's noise is "
        + "at \(trips.noiseDBFS.shown(0)) dBFS.",
      hint: "Check that neither side is muted, that the cable is in the right jacks, that phantom "
        + "power is on if the microphone wants it, that the mixer plays the computer and not the "
        + "monitor mix; then try a higher --level.")
  }

  private func fields(_ answer: PairAnswer?) -> [(String, JSON)] {
    let unit = configuration.latencyFrames + Double(sessions.report.addedLatencyFrames)
    let claimed = sessions.report.claimedLatencyFrames
    return JSON.summary(of: "latency", sessions.report, configuration)
      + PairAnswer.fields(answer, rejected: trips.rejected) + [
        ("bufferFrames", .rounded(unit, 4)),
        ("externalFrames", answer.map { .rounded($0.frames.median - unit, 4) } ?? .null),
        ("claimedFrames", claimed > 0 ? .integer(claimed) : .null),
        ("levelDBFS", .rounded(trips.levelDBFS)), ("noiseDBFS", .rounded(trips.noiseDBFS)),
        ("clipped", .bool(trips.isClipped)),
        ("periodFrames", .integer(configuration.periodFrames)),
        ("headroomFrames", .integer(configuration.headroomFrames)),
        (
          "pairs",
          .array(
            trips.pairs.compactMap { pair in
              PairAnswer(pair, configuration.sampleRate)?.pairJSON
            })
        ),
      ]
  }

  private func lines(_ answer: PairAnswer) -> [String] {
    let rate = Double(configuration.sampleRate)
    func both(_ frames: Double) -> String {
      "\(frames.shown(3)) frames (\((frames * 1000 / rate).shown(3)) ms)"
    }
    let unit = configuration.latencyFrames + Double(sessions.report.addedLatencyFrames)
    let claimed = sessions.report.claimedLatencyFrames
    var lines = [
      "Round trip \(both(answer.frames.median)), output \(answer.pair.fromChannel + 1) to input "
        + "\(answer.pair.toChannel + 1)\(answer.isInverted ? ", inverted" : "").",
      "  buffers of this program \(both(unit)); driver, converters and wire "
        + "\(both(answer.frames.median - unit))"
        + (claimed > 0 ? "; ALSA claims \(claimed) frames in all." : "."),
    ]
    lines += answer.lines(rejected: trips.rejected)
    for pair in trips.pairs
    where pair.fromChannel != answer.pair.fromChannel
      || pair.toChannel != answer.pair.toChannel
    {
      if let other = PairAnswer(pair, configuration.sampleRate) {
        lines.append(
          "  output \(pair.fromChannel + 1) to input \(pair.toChannel + 1): "
            + "\(both(other.frames.median)), signal to noise \(other.signalToNoise) dB")
      }
    }
    if trips.isClipped {
      lines.append("  The input was overdriven: turn its gain down for a better answer.")
    }
    return lines
  }
}
