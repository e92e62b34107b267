import AudioBasics
import AudioClocks

/// The requested devices and settings. The device determines the settings that are nil.
///
/// ```swift
/// var request = DuplexRequest(captureDevice: "hw:1,0", playbackDevice: "hw:1,0")
/// request.periodFrames = 64
/// request.headroomFrames = 32
/// try request.validate()
/// ```
public struct DuplexRequest: Sendable {
  /// The ALSA name of the input; nil for a unit that only plays.
  public var captureDevice: String?
  /// The ALSA name of the output; nil for a unit that only records.
  public var playbackDevice: String?
  /// The sample rate in Hz.
  public var sampleRate: Int?
  /// The sample rate in Hz if `sampleRate` is nil and the devices support this rate themselves, so
  /// that nothing is resampled.
  public var preferredSampleRate: Int?
  /// The number of channels in each direction.
  public var channelCount: Int?
  /// The device's channels that are captured, from 1, in the unit's order. A channel may occur
  /// twice. Nil selects the first channels.
  public var captureChannels: [Int]?
  /// The device's channels that are played on, from 1, in the unit's order. The others stay silent.
  /// Nil selects the first channels.
  public var playbackChannels: [Int]?
  /// The format of the device's samples.
  public var format: SampleFormat?
  /// The number of frames that a callback receives.
  public var periodFrames = 256
  /// The size of the output's buffer in periods.
  public var periods = 2
  /// The number of frames that are queued in the output when a callback runs; nil for one period.
  public var headroomFrames: Int?
  /// The resampler's quality, 0 to 10. It is used only if rates differ.
  public var resamplerQuality = 5

  /// The rates that a unit may have, in Hz.
  public static let sampleRates = 8000...768_000
  /// The numbers of frames that a callback may be requested to receive. A device may grant more.
  public static let periodFrameRange = 1...65536
  /// The sizes that the output's buffer may have, in periods.
  public static let periodsRange = 2...1024
  /// The numbers of frames that may be queued in the output when a callback runs.
  public static let headroomRange = 1...1_048_576
  /// The numbers of channels that a unit may have in each direction.
  public static let channelRange = 1...64
  /// The resampler's qualities.
  public static let resamplerQualityRange = RateConverter.qualities
  /// The largest size of the output's buffer in frames, and so the longest period of any unit.
  public static let maximumBufferFrames = 4_194_304

  /// Creates a request that leaves all settings to the named devices.
  public init(captureDevice: String?, playbackDevice: String?) {
    self.captureDevice = captureDevice
    self.playbackDevice = playbackDevice
  }

  /// The headroom of this request in frames.
  public var headroom: Int { headroomFrames ?? periodFrames }

  /// The rate in Hz that is selected among those of a device.
  var soughtSampleRate: Int? { sampleRate ?? preferredSampleRate }

  /// Returns the same durations at a device's own `rate` in Hz, for a device that does not support
  /// the unit's rate.
  public func atRate(_ rate: Int) -> DuplexRequest {
    guard let unitRate = sampleRate, unitRate != rate else { return self }
    func scaled(_ frames: Int) -> Int {
      max(1, Int(rounding: Double(frames) * Double(rate) / Double(unitRate)))
    }
    var request = self
    request.sampleRate = rate
    request.periodFrames = scaled(periodFrames)
    request.headroomFrames = scaled(headroom)
    return request
  }

  /// Returns the same durations at a device's own `rate` in Hz, as `atRate` does. Throws
  /// `.invalidRequest` if no device supports so many frames.
  package func checked(atRate rate: Int) throws(DeviceFailure) -> DuplexRequest {
    try validate()
    let request = atRate(rate)
    do throws(DeviceFailure) {
      try request.validate()
    } catch {
      throw DeviceFailure(
        error.kind, "\(error.message.dropLast()) at the device's \(rate) Hz.",
        hint: "Use fewer frames, or the device's rate.")
    }
    return request
  }

  /// Checks for values that no device supports. Throws `.invalidRequest` for such a value, or if no
  /// device is named.
  public func validate() throws(DeviceFailure) {
    guard captureDevice != nil || playbackDevice != nil else { throw .noDevice }
    guard captureDevice != "" && playbackDevice != "" else {
      throw .notFound(.invalidRequest, "The name of a device is empty.")
    }
    try require(
      Self.periodFrameRange.contains(periodFrames),
      "A period of \(periodFrames) frames is impossible.",
      hint: "Use \(Self.periodFrameRange.boundsText) frames; 64 to 1024 is usual.")
    try require(
      Self.periodsRange.contains(periods),
      "A buffer of \(periods.counted("period")) is impossible.",
      hint: "Use \(Self.periodsRange.boundsText) periods; 2 or 3 is usual.")
    try require(
      periodFrames * periods <= Self.maximumBufferFrames,
      "A buffer of \(periods) periods of \(periodFrames) frames is impossible.",
      hint: "Use at most \(Self.maximumBufferFrames) frames in total; 2 or 3 periods are usual.")
    try require(
      Self.headroomRange.contains(headroom), "A headroom of \(headroom) frames is impossible.",
      hint: "Use \(Self.headroomRange.boundsText) frames; one period is the default.")
    for rate in [sampleRate, preferredSampleRate] {
      try require(
        rate.map(Self.sampleRates.contains) ?? true, "A rate of \(rate ?? 0) Hz is impossible.",
        hint: "Use \(Self.sampleRates.boundsText) Hz; 48000 is usual.")
    }
    try require(
      channelCount.map(Self.channelRange.contains) ?? true,
      "\(channelCount ?? 0) channels are impossible.",
      hint: "Use \(Self.channelRange.boundsText) channels.")
    try validateChannels()
    try require(
      Self.resamplerQualityRange.contains(resamplerQuality),
      "A resampler quality of \(resamplerQuality) is impossible.",
      hint: "Use \(Self.resamplerQualityRange.boundsText).")
  }
}

extension DuplexRequest {
  private func require(_ holds: Bool, _ message: String, hint: String) throws(DeviceFailure) {
    guard holds else { throw DeviceFailure(.invalidRequest, message, hint: hint) }
  }

  /// Throws for lists of channels that no device could have.
  func validateChannels() throws(DeviceFailure) {
    for (name, channels) in [("capture", captureChannels), ("playback", playbackChannels)] {
      guard let channels else { continue }
      let written = channels.map(String.init).joined(separator: ",")
      try require(
        Self.channelRange.contains(channels.count),
        "A list of \(channels.count) \(name) channels is impossible.",
        hint: "Name \(Self.channelRange.boundsText) channels, such as 3,4.")
      try require(
        channels.allSatisfy(ChannelSelection.numbers.contains),
        "The \(name) channels \(written) are impossible.",
        hint: "Channels are numbered from \(ChannelSelection.numbers.boundsText), such as 3,4.")
      let count = channelCount ?? channels.count
      func areThere(_ count: Int, _ noun: String) -> String {
        count.counted(noun) + (count == 1 ? " is" : " are")
      }
      try require(
        count == channels.count,
        "\(areThere(count, "channel")) asked for, and "
          + "\(areThere(channels.count, "\(name) channel")) named: \(written).",
        hint: "Leave the number of channels out: the list sets it.")
      try require(
        name == "capture" || Set(channels).count == channels.count,
        "A playback channel is named twice: \(written).",
        hint: "Name each playback channel once; only a capture channel may be repeated.")
    }
  }
}
