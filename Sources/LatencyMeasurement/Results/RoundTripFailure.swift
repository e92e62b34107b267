import AudioBasics

/// The reason for which a measurement has no result.
public enum RoundTripFailure: ExplainedFailure, Sendable, Equatable {
  /// The input received nothing of the test signal, which was played with peaks up to `levelDBFS`;
  /// its own noise is at `noiseDBFS`, as RMS.
  case noSignal(levelDBFS: Double, noiseDBFS: Double)
  /// Frames were lost in each of `count` attempts.
  case lostFrames(count: Int)

  /// The description of the failure, in one sentence.
  public var message: String {
    switch self {
    case .noSignal: "The input received nothing of the test signal."
    case .lostFrames(let count): "Frames were lost in \(count.counted("measurement"))."
    }
  }

  /// The recommended action, in one sentence.
  public var hint: String {
    switch self {
    case .noSignal:
      "Connect an output to an input, check that neither is muted, then try a higher level."
    case .lostFrames: "Use a longer period or more headroom, and end other programs."
    }
  }
}

extension RoundTrips {
  /// The reason for which there is no result; nil if there is one.
  public var failure: RoundTripFailure? {
    guard pairs.isEmpty else { return nil }
    return rejected > 0
      ? .lostFrames(count: rejected) : .noSignal(levelDBFS: levelDBFS, noiseDBFS: noiseDBFS)
  }
}
