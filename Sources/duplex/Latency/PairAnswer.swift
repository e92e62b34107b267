import AudioDevices
import DelayEstimation
import LatencyMeasurement
import Reports

/// The answer for one pair of channels: all its measurements, summed up.
struct PairAnswer {
  let pair: ChannelPair
  let frames: Spread
  private let sampleRate: Int

  /// Nil where nothing was measured.
  init?(_ pair: ChannelPair, _ sampleRate: Int) {
    guard let frames = Spread(of: pair.frames) else { return nil }
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
    if frames.standardDeviation > max(0.5, 6 * bound), !doubts.contains(.drifting) {
      doubts.append(.drifting)
    }
    return doubts
  }

  /// Whether a recording may be aligned by it.
  var isTrustworthy: Bool { doubts.isEmpty }

  private var milliseconds: Double { frames.median * 1000 / Double(sampleRate) }

  /// What the contract names, nulls where nothing was found, and what else is known.
  static func fields(_ answer: PairAnswer?, rejected: Int) -> [(String, JSON)] {
    guard let answer else {
      return [
        ("roundTripFrames", .null), ("roundTripMilliseconds", .null),
        ("standardDeviationFrames", .null), ("measurements", .array([])),
        ("rejected", .integer(rejected)), ("signalToNoiseDB", .null), ("polarity", .null),
        ("doubtful", .bool(true)), ("doubts", .array([.string("noSignal")])),
      ]
    }
    let spread = answer.frames
    let first = answer.pair.estimates[0]
    return [
      ("roundTripFrames", .rounded(spread.median, 5)),
      ("roundTripMilliseconds", .rounded(answer.milliseconds, 6)),
      ("standardDeviationFrames", .rounded(spread.standardDeviation, 6)),
      (
        "confidence95Frames",
        .array([
          .rounded(spread.interval95.lowerBound, 5), .rounded(spread.interval95.upperBound, 5),
        ])
      ),
      ("minimumFrames", .rounded(spread.minimum, 5)),
      ("maximumFrames", .rounded(spread.maximum, 5)),
      ("jitterFrames", .rounded(spread.jitter, 6)),
      ("measurements", .array(answer.pair.frames.map { .rounded($0, 5) })),
      ("rejected", .integer(rejected)),
      ("signalToNoiseDB", .rounded(answer.pair.signalToNoiseDB)),
      ("polarity", .string(answer.isInverted ? "inverted" : "normal")),
      ("boundFrames", .rounded(first.boundFrames, 6)),
      ("phaseSlopeFrames", .rounded(first.phaseSlopeFrames, 5)),
      ("strongestFrames", .rounded(first.strongestFrames, 5)),
      (
        "arrivals",
        .array(
          first.arrivals.map {
            .object(["frames": .rounded($0.delayFrames, 4), "gain": .rounded($0.gain, 6)])
          })
      ),
      ("doubtful", .bool(!answer.doubts.isEmpty)),
      ("doubts", .array(answer.doubts.map { .string($0.rawValue) })),
      ("fromChannel", .integer(answer.pair.fromChannel + 1)),
      ("toChannel", .integer(answer.pair.toChannel + 1)),
    ]
  }

  /// The pair among others.
  var pairJSON: JSON {
    .object([
      "fromChannel": .integer(pair.fromChannel + 1), "toChannel": .integer(pair.toChannel + 1),
      "roundTripFrames": .rounded(frames.median, 5),
      "standardDeviationFrames": .rounded(frames.standardDeviation, 6),
      "signalToNoiseDB": .rounded(pair.signalToNoiseDB),
      "polarity": .string(isInverted ? "inverted" : "normal"),
      "doubtful": .bool(!doubts.isEmpty),
    ])
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
          + (rejected > 0 ? "; \(rejected) thrown away" : ""))
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
    return "\(sampleRate) Hz, \(unit)\(pair.estimates.count) measurements, signal to noise "
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
    case .faint: "the signal barely stands out of the noise; try a higher --level."
    case .disagreement: "two ways to work it out do not agree; something bends the phase."
    case .ambiguous: "an echo is about as strong as what came first."
    case .earlierArrival: "something came earlier, and weaker; through the air use --acoustic."
    case .narrowBand: "too little of the spectrum came through."
    case .drifting: "the delay changes while the signal sounds: two clocks, or lost frames."
    }
  }
}
