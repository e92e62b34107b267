import AudioDevices
import AudioSessions

/// The result of a round-trip measurement on a device: the round trip with its judgement, its
/// parts, and what else is known from the measurement.
///
/// ```swift
/// let engine = DuplexEngine(device: "sim:clock=free,delay=300")
/// let measured = try await engine.measureRoundTrip()
/// precondition(measured.unitFrames == 512 && abs(measured.externalFrames - 300) < 0.01)
/// ```
public struct RoundTripMeasurement: Sendable {
  /// The round trip between the channels of the clearest signal.
  public let roundTrip: RoundTripEstimate
  /// The round trips of all connected pairs of channels, sorted by output and input channel.
  public let estimates: [RoundTripEstimate]
  /// The single measurements, with the level that was played, the noise, and the number of those
  /// that were rejected.
  public let trips: RoundTrips
  /// The configuration of the device during the measurement.
  public let configuration: DuplexConfiguration
  /// The report of the session that measured, with its xruns.
  public let report: SessionReport

  /// Judges `trips`, which a session with `report` measured on a device with this configuration;
  /// nil if they contain no result (`RoundTrips.failure` is the reason).
  public init?(_ trips: RoundTrips, _ configuration: DuplexConfiguration, _ report: SessionReport) {
    let rate = configuration.sampleRate
    guard let roundTrip = trips.main.flatMap({ RoundTripEstimate($0, sampleRate: rate) }) else {
      return nil
    }
    self.roundTrip = roundTrip
    estimates = trips.pairs.compactMap { RoundTripEstimate($0, sampleRate: rate) }
    self.trips = trips
    self.configuration = configuration
    self.report = report
  }

  /// The part of the round trip in frames that the unit itself causes, by its period, headroom and
  /// resampling, and by devices that deliver in steps.
  public var unitFrames: Double { configuration.latencyFrames(with: report.drift) }

  /// The rest of the round trip in frames: driver, converters, and the cable or the air.
  public var externalFrames: Double { roundTrip.frames - unitFrames }

  /// The round trip in frames as the driver reports it; nil if it reports none.
  public var reportedFrames: Int? {
    report.reportedLatencyFrames > 0 ? report.reportedLatencyFrames : nil
  }

  /// The result in the form in which a program stores it.
  public var stored: StoredRoundTrip {
    StoredRoundTrip(
      roundTripFrames: roundTrip.frames, externalFrames: externalFrames,
      sampleRate: configuration.sampleRate)
  }
}
