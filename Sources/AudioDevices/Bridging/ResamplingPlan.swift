import AudioBasics

/// The rates, periods and delays of a `ResamplingDevice`, computed once when it is created.
struct ResamplingPlan {
  /// The configuration of the device that is used.
  private let device: DuplexConfiguration
  private let request: DuplexRequest
  /// The rates in frames per second: of the unit, and of the two directions of the device.
  private let rate: Int
  private let captureRate: Int
  private let playbackRate: Int
  /// The number of frames at the unit's rate for one frame of the input, and for one frame of the
  /// device.
  let unitPerCapture: Double
  let unitPerDevice: Double
  /// The number of frames of the output for one frame at the unit's rate.
  private let playbackPerUnit: Double

  /// Creates a plan for a device of this configuration at the rate, period and headroom of
  /// `request`.
  init(_ device: DuplexConfiguration, _ request: DuplexRequest) {
    self.device = device
    self.request = request
    rate = request.sampleRate ?? device.sampleRate
    captureRate = device.capture?.sampleRate ?? device.sampleRate
    playbackRate = device.playback?.sampleRate ?? device.sampleRate
    unitPerCapture = Double(rate) / Double(captureRate)
    unitPerDevice = Double(rate) / Double(device.sampleRate)
    playbackPerUnit = Double(playbackRate) / Double(rate)
  }

  /// The numbers of channels; 1 for a direction that is not there.
  var captureChannels: Int { device.capture?.channelCount ?? 1 }
  var playbackChannels: Int { device.playback?.channelCount ?? 1 }

  /// The frames of the output that are filled with silence at the start: a period of the unit,
  /// because a device's period is not a whole number of the unit's periods.
  var reserveFrames: Int {
    device.capture == nil
      ? 0 : Int(clamping: (Double(request.periodFrames) * playbackPerUnit).rounded(.up)) + 4
  }

  /// Returns the resampling of the input. Throws if the rates cannot be converted.
  func makeInput() throws(DeviceFailure) -> RateStage {
    try RateStage(
      channelCount: captureChannels, from: captureRate, to: rate,
      quality: request.resamplerQuality,
      capacity: device.capture == nil
        ? 1
        : Self.capacity(
          Double(request.periodFrames), Double(device.periodFrames) * unitPerCapture))
  }

  /// Returns the resampling of the output. Throws if the rates cannot be converted.
  func makeOutput() throws(DeviceFailure) -> RateStage {
    try RateStage(
      channelCount: playbackChannels, from: rate, to: playbackRate,
      quality: request.resamplerQuality,
      capacity: device.playback == nil
        ? 1
        : Self.capacity(
          Double(request.periodFrames) * playbackPerUnit, Double(device.periodFrames)),
      isFinite: device.capture == nil)
  }

  /// Returns room for eight periods of the unit and of the device, in frames at the resampler's
  /// output rate.
  private static func capacity(_ unitFrames: Double, _ deviceFrames: Double) -> Int {
    8 * Int(clamping: (unitFrames + deviceFrames).rounded(.up)) + 1024
  }

  /// Returns the configuration of the unit. The filter of the input delays by `inputDelay` frames
  /// at the unit's rate, that of the output by `outputDelay` frames at the output's rate.
  func configuration(inputDelay: Double, outputDelay: Double) -> DuplexConfiguration {
    let ahead = Double(DuplexShape(device).playbackAheadFrames + reserveFrames)
    let delay = (ahead + outputDelay) / playbackPerUnit + inputDelay
    var unit = device
    unit.sampleRate = rate
    unit.periodFrames = request.periodFrames
    unit.headroomFrames = request.headroom
    unit.isResampling = true
    unit.resamplerDelayFrames = max(0, delay - Double(request.periodFrames + request.headroom))
    return unit
  }
}
