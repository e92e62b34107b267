import AudioBasics
import CALSA

extension DeviceStream {
  /// Opens and configures the output that `request` names, at its own rate if it does not support
  /// the requested rate. Throws if the output does not exist, is busy, cannot do what is requested,
  /// or does not play in real time.
  public init(openingOutput request: DuplexRequest) throws(DeviceFailure) {
    var playbackRequest = request
    playbackRequest.captureDevice = nil
    try playbackRequest.validate()
    let pcm = try PCM.opening(playbackRequest, .playback)
    guard pcm.keepsTime else {
      throw DeviceFailure(
        .refused,
        "The output \(pcm.name) does not play in real time, so it cannot be a secondary output.",
        hint: "Choose a device that plays in real time.", remedy: .chooseSecondaryOutput)
    }
    self.init(ALSAStream(pcm, request: playbackRequest))
  }
}

extension DevicePair {
  /// Returns whether the input and the output that `request` names have two clocks: they are on
  /// different cards, or have different names and at least one of them is not a card.
  public static func hasTwoClocks(_ request: DuplexRequest) -> Bool {
    guard let capture = request.captureDevice, let playback = request.playbackDevice,
      capture != playback
    else { return false }
    guard let input = DeviceIdentity.namedCard(of: capture),
      let output = DeviceIdentity.namedCard(of: playback)
    else { return true }
    return input != output
  }

  /// Opens and configures both devices that `request` names. Each uses its own rate if it does not
  /// support the requested rate. Returns nil if one of them does not keep time, such as ALSA's
  /// `null`. Throws if one of them does not exist, is busy, or cannot do what is requested.
  public static func opening(_ request: DuplexRequest) throws(DeviceFailure) -> DevicePair? {
    try request.validate()
    guard request.captureDevice != nil, request.playbackDevice != nil else {
      throw DeviceFailure(
        .invalidRequest, "Two clocks need an input and an output.", hint: "Name both devices.")
    }
    var (captureRequest, playbackRequest) = (request, request)
    captureRequest.playbackDevice = nil
    playbackRequest.captureDevice = nil
    let capture = try PCM.opening(captureRequest, .capture)
    let playback = try PCM.opening(playbackRequest, .playback)
    guard capture.keepsTime, playback.keepsTime else { return nil }
    return DevicePair(
      capture: DeviceStream(ALSAStream(capture, request: captureRequest)),
      playback: DeviceStream(ALSAStream(playback, request: playbackRequest)), time: DeviceTime())
  }
}
