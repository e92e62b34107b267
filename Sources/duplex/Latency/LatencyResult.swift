import AudioBasics
import AudioDevices
import AudioFiles
import DelayEstimation
import LatencyMeasurement
import Reports

/// The result of a measurement, for a person, a script, a settings file and a report.
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
      Terminal.emit(.summary(fields + .written(kept)))
    } else if let answer {
      Terminal.printLines(lines(answer))
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
          inform("kept", "Saved in \(path).")
        } else if command.save {
          warn("notKept", "The result is doubtful and was not saved.")
        }
        let picture = answer.picture(configuration, sessions.report.reportedLatencyFrames)
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
      return ToolFailure.noSignal(
        "The sound of --reference was not found in the recording.",
        hint: "Check that the recording is of this reference, and that its sound is not cut off.")
    }
    // Ended by hand, or torn by xruns: that is not for lack of a cable.
    if case .end = sessions.report.stopReason {
    } else {
      return ToolFailure.noSignal(
        "The measurement ended before the input received the test signal.",
        hint: "Use a longer --duration, or leave --duration out.")
    }
    if trips.rejected > 0 {
      return ToolFailure.noSignal(
        "Frames were lost in every measurement (\(trips.rejected) rejected).",
        hint: "Ask for a larger --period-size, or find a stable one with `duplex tune`.")
    }
    return ToolFailure.noSignal(
      "The input received no test signal, at peaks up to \(trips.levelDBFS.shownLevel) dBFS; the input's noise is "
        + "at \(trips.noiseDBFS.shownLevel) dBFS.",
      hint: "Check that neither side is muted, that the cable is in the right jacks, that phantom "
        + "power is on if the microphone wants it, that the mixer plays the computer and not the "
        + "monitor mix; then try a higher --level.")
  }

  /// What this program keeps between input and output, in frames.
  private var unitFrames: Double {
    configuration.latencyFrames + Double(sessions.report.addedLatencyFrames)
  }

  private func fields(_ answer: PairAnswer?) -> Fields {
    let claimed = sessions.report.reportedLatencyFrames
    return .summary(of: "latency", sessions.report, configuration)
      + PairAnswer.fields(answer, rejected: trips.rejected) + [
        "bufferFrames": unitFrames.digits(4),
        "externalFrames": answer.map { ($0.frames.median - unitFrames).digits(4) },
        "claimedFrames": claimed > 0 ? claimed : nil,
        "levelDBFS": trips.levelDBFS.digits(2), "noiseDBFS": trips.noiseDBFS.digits(2),
        "clipped": trips.isClipped, "periodFrames": configuration.periodFrames,
        "headroomFrames": configuration.headroomFrames,
        "pairs": trips.pairs.compactMap { PairAnswer($0, configuration.sampleRate)?.pairFields },
      ]
  }

  private func lines(_ answer: PairAnswer) -> [String] {
    let rate = Double(configuration.sampleRate)
    func both(_ frames: Double) -> String {
      "\(frames.shown(3)) frames (\((frames * 1000 / rate).shown(3)) ms)"
    }
    let claimed = sessions.report.reportedLatencyFrames
    var lines = [
      "Round trip \(both(answer.frames.median)), output \(answer.pair.fromChannel + 1) to input "
        + "\(answer.pair.toChannel + 1)\(answer.isInverted ? ", inverted" : "").",
      "  buffers of this program \(both(unitFrames))",
      "  driver, converters and wire \(both(answer.frames.median - unitFrames))",
    ]
    if claimed > 0 { lines.append("  latency that the device reports \(both(Double(claimed)))") }
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
      lines.append("  The input clipped: lower the input gain for a more exact result.")
    }
    return lines
  }
}

/// The answer for one pair of channels: all its measurements, summed up.
struct PairAnswer {
  let pair: ChannelPair
  let frames: Spread
  private let sampleRate: Int

  /// Nil where nothing was measured.
  init?(_ pair: ChannelPair, _ sampleRate: Int) {
    guard let first = pair.estimates.first,
      let frames = Spread(
        of: pair.frames,
        deviationOfOne: max(first.deviationFrames, abs(first.phaseSlopeFrames - first.delayFrames)))
    else { return nil }
    self.pair = pair
    self.frames = frames
    self.sampleRate = sampleRate
  }

  var isInverted: Bool { 2 * pair.estimates.count(where: \.isInverted) > pair.estimates.count }
  var signalToNoise: String { pair.signalToNoiseDB.shown(1) }

  private var doubts: [DelayEstimate.Doubt] {
    var doubts: [DelayEstimate.Doubt] = []
    for estimate in pair.estimates {
      for doubt in estimate.doubts where !doubts.contains(doubt) { doubts.append(doubt) }
    }
    let bound = pair.estimates.reduce(0) { max($0, $1.boundFrames) }
    if pair.estimates.count > 1, frames.standardDeviation > max(0.5, 6 * bound),
      !doubts.contains(.drifting)
    {
      doubts.append(.drifting)
    }
    return doubts
  }

  /// Whether a recording may be aligned by it.
  var isTrustworthy: Bool { doubts.isEmpty }

  private var milliseconds: Double { frames.median * 1000 / Double(sampleRate) }

  /// What the contract names, nulls where nothing was found, and what else is known.
  static func fields(_ answer: PairAnswer?, rejected: Int) -> Fields {
    guard let answer else {
      return [
        "roundTripFrames": JSON.null, "roundTripMilliseconds": JSON.null,
        "standardDeviationFrames": JSON.null, "measurements": [Int](), "rejected": rejected,
        "signalToNoiseDB": JSON.null, "polarity": JSON.null, "doubtful": true,
        "doubts": ["noSignal"],
      ]
    }
    let spread = answer.frames
    let first = answer.pair.estimates[0]
    return answer.pairFields + [
      "roundTripMilliseconds": answer.milliseconds,
      "confidence95Frames": [
        spread.interval95.lowerBound.digits(5), spread.interval95.upperBound.digits(5),
      ],
      "minimumFrames": spread.minimum.digits(5), "maximumFrames": spread.maximum.digits(5),
      "jitterFrames": spread.jitter,
      "measurements": answer.pair.frames.map { $0.digits(5) }, "rejected": rejected,
      "boundFrames": first.boundFrames, "driftPPM": first.driftPPM,
      "phaseSlopeFrames": first.phaseSlopeFrames.digits(5),
      "strongestFrames": first.strongestFrames.digits(5),
      "arrivals": first.arrivals.map {
        ["frames": $0.delayFrames.digits(4), "gain": $0.gain] as Fields
      },
      "doubts": answer.doubts.map(\.rawValue),
    ]
  }

  /// The pair among others.
  var pairFields: Fields {
    [
      "fromChannel": pair.fromChannel + 1, "toChannel": pair.toChannel + 1,
      "roundTripFrames": frames.median.digits(5),
      "standardDeviationFrames": frames.standardDeviation,
      "signalToNoiseDB": pair.signalToNoiseDB.digits(2),
      "polarity": isInverted ? "inverted" : "normal", "doubtful": !doubts.isEmpty,
    ]
  }

  /// How sure it is, for a person.
  func lines(rejected: Int) -> [String] {
    var lines: [String] = []
    let count = pair.estimates.count
    if count > 1 {
      lines.append(
        "  \(count) measurements: standard deviation \(frames.standardDeviation.shown(5)), "
          + "95 % within \(frames.interval95.lowerBound.shown(3)) to "
          + "\(frames.interval95.upperBound.shown(3)), from \(frames.minimum.shown(3)) to "
          + "\(frames.maximum.shown(3)), jitter \(frames.jitter.shown(5)) frames"
          + (rejected > 0 ? "; \(rejected) rejected" : ""))
    }
    lines.append("  signal to noise \(signalToNoise) dB")
    for doubt in doubts { lines.append("  Doubtful: \(doubt.sentence)") }
    return lines
  }

  private func subtitle(_ configuration: DuplexConfiguration) -> String {
    let unit =
      configuration.periodFrames > 0
      ? "period \(configuration.periodFrames), headroom \(configuration.headroomFrames), " : ""
    let doubt =
      doubts.isEmpty ? "" : ", doubtful: " + doubts.map(\.rawValue).joined(separator: ", ")
    return "\(sampleRate) Hz, \(unit)"
      + "\(pair.estimates.count.counted("measurement")), signal to noise "
      + "\(signalToNoise) dB\(doubt)"
  }

  /// What is to be drawn.
  func picture(_ configuration: DuplexConfiguration, _ claimedFrames: Int) -> LatencyPicture {
    let first = pair.estimates[0]
    let names = [configuration.playback?.device, configuration.capture?.device]
      .compactMap { $0 }.joined(separator: " to ")
    return LatencyPicture(
      title: "\(names), channel \(pair.fromChannel + 1) to \(pair.toChannel + 1)",
      subtitle: subtitle(configuration),
      sampleRate: sampleRate, roundTripFrames: frames.median,
      standardDeviationFrames: frames.standardDeviation, impulseResponse: first.response,
      impulseFirstFrame: Double(first.responseFirstFrame), correlation: first.curve,
      correlationFirstFrame: first.curveFirstFrame,
      correlationStepFrames: first.curveStepFrames,
      arrivals: first.arrivals.map(\.delayFrames), measurements: pair.frames,
      bufferFrames: configuration.latencyFrames,
      externalFrames: frames.median - configuration.latencyFrames,
      claimedFrames: claimedFrames > 0 ? Double(claimedFrames) : nil)
  }
}

extension DelayEstimate.Doubt {
  /// What it means, for a person.
  var sentence: String {
    switch self {
    case .faint: "the signal is hardly above the noise; try a higher --level."
    case .disagreement: "two methods give different delays: a filter in the path changes the phase."
    case .ambiguous: "an echo is about as strong as the direct sound."
    case .earlierArrival:
      "a weaker signal arrived earlier; use --acoustic for a measurement through the air."
    case .narrowBand: "too little of the spectrum was received."
    case .drifting: "the delay changed during the measurement: two clocks, or lost frames."
    }
  }
}
