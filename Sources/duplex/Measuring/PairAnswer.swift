import AudioBasics
import AudioDevices
import DelayEstimation
import LatencyMeasurement
import Reports

/// The result for one pair of channels, from all its measurements.
struct PairAnswer {
  let pair: ChannelPair
  let frames: Spread
  private let sampleRate: Int

  /// Summarises the measurements of `pair`; nil if there are none.
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

  /// Whether three or more measurements agree to 30 microseconds. A sound server's delay moves by
  /// tenths of a frame, which does not matter for an alignment.
  private var isSteady: Bool {
    pair.estimates.count > 2 && frames.maximum - frames.minimum <= Double(sampleRate) * 30e-6
  }

  /// The reasons why the result is not reliable enough to align a recording, as sentences that
  /// complete "doubtful:"; nil if it is reliable.
  var objection: String? {
    let doubts = isSteady ? doubts.filter { $0 != .drifting } : doubts
    return doubts.isEmpty
      ? nil : doubts.map { String($0.sentence.dropLast()) }.joined(separator: "; ")
  }

  /// The option of `overdub` for this round trip.
  var latencyOption: String { "--latency \(frames.median.shown(1))f" }

  private var milliseconds: Double { frames.median * 1000 / Double(sampleRate) }

  /// Returns the fields of the summary. If there is no answer, the results are null and the only
  /// doubt is `noSignal`.
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

  /// The fields of the pair in the list of all pairs.
  var pairFields: Fields {
    [
      "fromChannel": pair.fromChannel + 1, "toChannel": pair.toChannel + 1,
      "roundTripFrames": frames.median.digits(5),
      "standardDeviationFrames": frames.standardDeviation,
      "signalToNoiseDB": pair.signalToNoiseDB.digits(2),
      "polarity": isInverted ? "inverted" : "normal", "doubtful": !doubts.isEmpty,
    ]
  }

  /// Returns lines of text about the accuracy of the result.
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
      sampleRate: sampleRate, roundTripFrames: frames.median,
      standardDeviationFrames: frames.standardDeviation, impulseResponse: first.impulseResponse,
      correlation: first.correlation, arrivals: first.arrivals.map(\.delayFrames),
      measurements: pair.frames, bufferFrames: unitFrames,
      claimedFrames: claimedFrames > 0 ? Double(claimedFrames) : nil)
  }
}

extension DelayEstimate.Doubt {
  /// The explanation of the doubt in the output.
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
