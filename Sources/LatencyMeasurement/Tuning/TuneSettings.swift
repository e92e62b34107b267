import AudioDevices

/// The settings of a search for the lowest stable period and headroom, independent of a device.
///
/// ```swift
/// var settings = TuneSettings()
/// settings.trialSeconds = 2
/// settings.totalSeconds = 60
/// precondition(settings.loadLimit == 0.7)
/// ```
public struct TuneSettings: Sendable, Equatable {
  /// The lengths of a trial in seconds that are possible.
  public static let trialRange = 0.1...86_400
  /// The margins in percent that are possible.
  public static let marginRange = 0.0...99

  /// The length of each trial in seconds, within `trialRange`. The trial that confirms the best
  /// setting is three times as long.
  public var trialSeconds = 10.0
  /// The length of all trials together in seconds; nil for no limit. When it is over, the best
  /// setting so far is the result.
  public var totalSeconds: Double?
  /// The share of each period that must stay unused, in percent, within `marginRange`.
  public var marginPercent = 30.0
  /// The longest period that is tried, in frames.
  public var longestPeriodFrames = 1024
  /// The sample rate in frames per second. If it is nil, the device selects the rate, and the
  /// search continues at lower rates if no setting is stable.
  public var sampleRate: Int?

  /// Creates settings for trials of 10 s without a limit for all of them.
  public init() {}

  /// The share of a period that a callback may use: 1 is the whole period.
  public var loadLimit: Double { 1 - marginPercent / 100 }

  /// Throws `.invalidRequest` if a value is out of range.
  public func validate() throws(DeviceFailure) {
    try require(
      Self.trialRange.contains(trialSeconds), "A trial takes \(Self.trialRange.boundsText) s.")
    try require(
      Self.marginRange.contains(marginPercent),
      "The margin is \(Self.marginRange.boundsText) percent.")
    try require(
      totalSeconds.map { $0 > 0 } != false, "The length of all trials is above 0 s, or nil.")
    try require(
      DuplexRequest.periodFrameRange.contains(longestPeriodFrames),
      "The longest period is \(DuplexRequest.periodFrameRange.boundsText) frames.")
  }

  private func require(_ isValid: Bool, _ sentence: String) throws(DeviceFailure) {
    guard !isValid else { return }
    throw DeviceFailure(.invalidRequest, sentence, hint: "Choose a value within that range.")
  }
}
