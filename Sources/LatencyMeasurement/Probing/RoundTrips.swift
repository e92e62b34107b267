import DelayEstimation

/// The round trips from one channel of the output to one of the input.
public struct ChannelPair: Sendable {
  /// The output channel that played, from 0.
  public var fromChannel: Int
  /// The input channel that received it, from 0.
  public var toChannel: Int
  /// The measurements, in order.
  public var estimates: [DelayEstimate]

  /// The round trips in frames.
  public var frames: [Double] { estimates.map(\.delayFrames) }

  /// The mean signal-to-noise ratio in dB.
  public var signalToNoiseDB: Double {
    estimates.isEmpty
      ? 0 : estimates.reduce(0) { $0 + $1.signalToNoiseDB } / Double(estimates.count)
  }
}

/// The results of a round-trip measurement, over one open stream or several.
public struct RoundTrips: Sendable {
  /// The pairs of channels that are connected, sorted by output and input channel.
  public var pairs: [ChannelPair] = []
  /// The number of measurements discarded because frames were lost or because no signal was found.
  public var rejected = 0
  /// The highest peak played, in dBFS.
  public var levelDBFS = -200.0
  /// The noise at the loudest input channel before anything was played, as RMS in dBFS.
  public var noiseDBFS = -200.0
  /// Whether the input was overdriven.
  public var isClipped = false

  /// Creates a result without measurements.
  public init() {}

  /// The main pair: the first of those within 6 dB of the highest signal-to-noise ratio.
  public var main: ChannelPair? {
    let clearest = pairs.reduce(-.infinity) { max($0, $1.signalToNoiseDB) }
    return pairs.first { $0.signalToNoiseDB >= clearest - 6 }
  }

  /// Adds the results of another open stream.
  public mutating func add(_ other: RoundTrips) {
    for pair in other.pairs {
      for estimate in pair.estimates {
        add(estimate, from: pair.fromChannel, to: pair.toChannel)
      }
    }
    rejected += other.rejected
    levelDBFS = max(levelDBFS, other.levelDBFS)
    noiseDBFS = max(noiseDBFS, other.noiseDBFS)
    isClipped = isClipped || other.isClipped
  }

  /// Adds one measurement between two channels, counted from 0.
  public mutating func add(_ estimate: DelayEstimate, from: Int, to: Int) {
    if let index = pairs.firstIndex(where: { $0.fromChannel == from && $0.toChannel == to }) {
      pairs[index].estimates.append(estimate)
      return
    }
    pairs.append(ChannelPair(fromChannel: from, toChannel: to, estimates: [estimate]))
    pairs.sort { ($0.fromChannel, $0.toChannel) < ($1.fromChannel, $1.toChannel) }
  }
}
