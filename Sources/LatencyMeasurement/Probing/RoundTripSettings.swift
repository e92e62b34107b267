import AudioBasics
import AudioDevices
import DelayEstimation

/// The settings of a round-trip measurement, independent of a device: channels, repeats and level.
///
/// ```swift
/// var settings = RoundTripSettings()
/// settings.repeats = 3
/// settings.choice = .first  // through the air
/// let engine = DuplexEngine(device: "sim:clock=free")
/// let measured = try await engine.measureRoundTrip(settings)
/// precondition(measured.roundTrip.pair.estimates.count == 3)
/// ```
public struct RoundTripSettings: Sendable, Equatable {
  /// The numbers of measurements that are possible.
  public static let repeatRange = 1...10_000
  /// The levels in dBFS that are possible.
  public static let levelRange = Gain.decibelRange.lowerBound...0

  /// The number of measurements for each output channel, within `repeatRange`. Each takes one
  /// second and the round trip.
  public var repeats = 5
  /// The highest peak that may be played, in dBFS, within `levelRange`.
  public var levelCapDBFS = -12.0
  /// The output channel that plays, from 0, or nil for one after the other.
  public var fromChannel: Int?
  /// The input channel that is evaluated, from 0, or nil for all.
  public var toChannel: Int?
  /// The arrival whose delay is measured.
  public var choice = DelayEstimator.Choice.strongest

  /// Creates settings for five measurements of all channels, with peaks up to -12 dBFS.
  public init() {}
}

extension ProbePlan {
  /// Creates a plan for a unit with the granted configuration. Throws `.invalidRequest` if the unit
  /// has no input or no output, or not the channels of `settings`, or if a value is out of range.
  public init(
    _ configuration: DuplexConfiguration, _ settings: RoundTripSettings
  ) throws(DeviceFailure) {
    self.init(configuration)
    guard captureChannels > 0, playbackChannels > 0 else {
      throw DeviceFailure(
        .invalidRequest, "A round trip is measured from an output to an input.",
        hint: "Name a device for both directions.")
    }
    guard (0..<playbackChannels).contains(settings.fromChannel ?? 0),
      (0..<captureChannels).contains(settings.toChannel ?? 0)
    else {
      throw DeviceFailure(
        .invalidRequest,
        "The device has \(playbackChannels.counted("output channel")) and "
          + "\(captureChannels.counted("input channel")), and another one was named.",
        hint: "Channels are counted from 0.")
    }
    guard RoundTripSettings.repeatRange.contains(settings.repeats) else {
      throw DeviceFailure(
        .invalidRequest,
        "A round trip is measured \(RoundTripSettings.repeatRange.boundsText) times.",
        hint: "Choose a number within that range.")
    }
    guard RoundTripSettings.levelRange.contains(settings.levelCapDBFS) else {
      throw DeviceFailure(
        .invalidRequest,
        "The highest peak of a measurement is \(RoundTripSettings.levelRange.boundsText) dBFS.",
        hint: "Choose a level within that range.")
    }
    repeats = settings.repeats
    levelCapDBFS = settings.levelCapDBFS
    fromChannel = settings.fromChannel
    toChannel = settings.toChannel
    choice = settings.choice
  }
}
