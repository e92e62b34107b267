import AudioBasics
import AudioDevices
import DelayEstimation
import LatencyMeasurement
import Reports

/// The result for one pair of channels as text, as fields of events and as a picture.
extension RoundTripEstimate {
  /// The signal-to-noise ratio in dB, as text.
  var signalToNoise: String { signalToNoiseDB.shown(1) }

  /// The reasons why the result is not reliable enough to align a recording, as sentences that
  /// complete "doubtful:"; nil if it is reliable.
  var objection: String? {
    verdict == .refused
      ? objections.map { String($0.sentence.dropLast()) }.joined(separator: "; ") : nil
  }

  /// The option of `overdub` for this round trip.
  var latencyOption: String { "--latency \(frames.shown(1))f" }

  private var milliseconds: Double { frames * 1000 / Double(sampleRate) }

  /// Returns the fields of the summary. If there is no answer, the results are null and the only
  /// doubt is `noSignal`.
  static func fields(_ answer: RoundTripEstimate?, rejected: Int) -> Fields {
    guard let answer else {
      return [
        "roundTripFrames": JSON.null, "roundTripMilliseconds": JSON.null,
        "standardDeviationFrames": JSON.null, "measurements": [Int](), "rejected": rejected,
        "signalToNoiseDB": JSON.null, "polarity": JSON.null, "doubtful": true,
        "doubts": ["noSignal"],
      ]
    }
    let spread = answer.spread
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

  /// The fields of the pair in the list of all pairs.
  var pairFields: Fields {
    [
      "fromChannel": pair.fromChannel + 1, "toChannel": pair.toChannel + 1,
      "roundTripFrames": frames.digits(5),
      "standardDeviationFrames": spread.standardDeviation,
      "signalToNoiseDB": signalToNoiseDB.digits(2),
      "polarity": isInverted ? "inverted" : "normal", "doubtful": !doubts.isEmpty,
    ]
  }

  /// Returns lines of text about the accuracy of the result.
  func lines(rejected: Int) -> [String] {
    var lines: [String] = []
    let count = pair.estimates.count
    if count > 1 {
      lines.append(
        "  \(count) measurements: standard deviation \(spread.standardDeviation.shown(5)), "
          + "95 % within \(spread.interval95.lowerBound.shown(3)) to "
          + "\(spread.interval95.upperBound.shown(3)), from \(spread.minimum.shown(3)) to "
          + "\(spread.maximum.shown(3)), jitter \(spread.jitter.shown(5)) frames"
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

  /// Returns the data of the report's picture. `unitFrames` is the latency of this program between
  /// input and output, and `claimedFrames` the round trip that the device reports, or 0.
  func picture(
    _ configuration: DuplexConfiguration, unitFrames: Double, claimedFrames: Int
  ) -> LatencyPicture {
    let first = pair.estimates[0]
    let names = [configuration.playback?.device, configuration.capture?.device]
      .compactMap { $0 }.joined(separator: " to ")
    return LatencyPicture(
      title: "\(names), channel \(pair.fromChannel + 1) to \(pair.toChannel + 1)",
      subtitle: subtitle(configuration),
      sampleRate: sampleRate, roundTripFrames: frames,
      standardDeviationFrames: spread.standardDeviation, impulseResponse: first.impulseResponse,
      correlation: first.correlation, arrivals: first.arrivals.map(\.delayFrames),
      measurements: pair.frames, bufferFrames: unitFrames,
      claimedFrames: claimedFrames > 0 ? Double(claimedFrames) : nil)
  }
}

extension DelayEstimate.Doubt {
  /// The explanation of the doubt in the output, with the option that may help.
  var sentence: String {
    switch self {
    case .faint: explanation + "; try a higher --level."
    case .earlierArrival: explanation + "; use --acoustic for a measurement through the air."
    case .disagreement, .ambiguous, .narrowBand, .drifting: explanation + "."
    }
  }
}
