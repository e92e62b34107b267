import AudioBasics
import CALSA

extension ALSAPair {
  /// Whether the input and the output that `request` names go by two clocks: they are different
  /// cards, or have different names and at least one of them is no card.
  public static func hasTwoClocks(_ request: DuplexRequest) -> Bool {
    guard let capture = request.captureDevice, let playback = request.playbackDevice,
      capture != playback
    else { return false }
    guard let input = DeviceIdentity.card(behind: capture),
      let output = DeviceIdentity.card(behind: playback)
    else { return true }
    return input != output
  }

  /// Opens and configures both devices that `request` names. Each keeps its own rate where the
  /// request's is beyond it.
  public init(opening request: DuplexRequest) throws(DeviceFailure) {
    try request.validate()
    guard let input = request.captureDevice, let output = request.playbackDevice else {
      throw DeviceFailure(
        .invalidRequest, "Two clocks need an input and an output.", hint: "Name both.")
    }
    var capture = try PCM(opening: input, .capture)
    var playback = try PCM(opening: output, .playback)
    let period = request.periodFrames
    // Neither buffer's length is part of the delay: only what lies in it is.
    let frames = max(request.periods * period, 4 * (period + request.headroom) + 512, 8192)
    let stream = StreamRequest(
      sampleRate: request.sampleRate, unitRate: request.sampleRate,
      channelCount: request.channelCount, format: request.format, periodFrames: period,
      bufferFrames: (frames + period - 1) / period * period)
    try capture.configure(stream)
    try playback.configure(stream)
    try capture.configureWaking(availableFrames: capture.configuration.periodFrames)
    try playback.configureWaking(availableFrames: playback.configuration.periodFrames)
    self.init(capture: capture, playback: playback, request: request)
  }

  /// Goes on with what another open was granted: the same as before, or it is refused.
  mutating func adopt(_ opened: consuming ALSAPair) throws(DeviceFailure) {
    var capture = opened.captureStream
    var playback = opened.playbackStream
    capture.device = captureStream.device
    playback.device = playbackStream.device
    guard capture == captureStream, playback == playbackStream else {
      throw DeviceFailure(
        .refused,
        "\(capture.device) or \(playback.device) is there again but grants other settings.",
        hint: "Set it up as it was, or stop and start anew.")
    }
    self.capture = opened.capture.take()
    self.playback = opened.playback.take()
  }
}
