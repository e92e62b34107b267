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
    guard request.captureDevice != nil, request.playbackDevice != nil else {
      throw DeviceFailure(
        .invalidRequest, "Two clocks need an input and an output.", hint: "Name both.")
    }
    var (inward, outward) = (request, request)
    inward.playbackDevice = nil
    outward.captureDevice = nil
    let capture = try PCM.opening(inward, .capture)
    let playback = try PCM.opening(outward, .playback)
    let keepTime = capture.keepsTime && playback.keepsTime
    self.init(
      input: ALSAStream(capture, request: inward), output: ALSAStream(playback, request: outward),
      hasClocks: keepTime)
  }
}
