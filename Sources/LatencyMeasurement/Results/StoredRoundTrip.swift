import AudioDevices

/// A measured round trip as a program stores it, to align later recordings on the same devices: any
/// encoder of `Codable` values writes it. As JSON it is a round trip that the tool accepts for an
/// overdub.
///
/// ```swift
/// let engine = DuplexEngine(device: "sim:clock=free,delay=300")
/// let stored = try await engine.measureRoundTrip().stored
/// let granted = try await engine.start()
/// let delay = stored.frames(for: granted) ?? 0  // the delay of a recording, in frames
/// precondition(abs(delay - 812) < 0.01)
/// await engine.stop()
/// ```
public struct StoredRoundTrip: Codable, Sendable, Equatable {
  /// The round trip in frames, with the period and the headroom of the measurement.
  public var roundTripFrames: Double
  /// The part outside of the unit in frames; nil if it is unknown, as in an existing recording.
  public var externalFrames: Double?
  /// The rate of the measurement in frames per second; nil if it is unknown.
  public var sampleRate: Int?

  /// The largest round trip, and the largest part outside of the unit, in frames: more than ten
  /// seconds at any rate, and so few that sums with the latency of a unit stay small.
  public static let maximumFrames = 1e7

  /// Creates a round trip of `roundTripFrames` frames at `sampleRate` frames per second.
  public init(roundTripFrames: Double, externalFrames: Double? = nil, sampleRate: Int? = nil) {
    self.roundTripFrames = roundTripFrames
    self.externalFrames = externalFrames
    self.sampleRate = sampleRate
  }

  /// Whether the numbers of frames are within their limits. Check a value that comes from outside.
  public var isValid: Bool {
    let limit = Self.maximumFrames
    return (0...limit).contains(roundTripFrames) && (-limit...limit).contains(externalFrames ?? 0)
  }

  /// Returns the round trip in frames for a unit with another period or headroom: the part outside
  /// of the unit is the same. Nil if it was measured at another rate. A device that delivers in
  /// steps adds the `addedLatencyFrames` of the session's report.
  public func frames(for configuration: DuplexConfiguration) -> Double? {
    guard let sampleRate else { return roundTripFrames }
    guard sampleRate == configuration.sampleRate else { return nil }
    return externalFrames.map { max(0, $0 + configuration.latencyFrames) } ?? roundTripFrames
  }
}
