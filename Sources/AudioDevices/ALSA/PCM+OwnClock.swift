import AudioBasics

/// A PCM that goes by its own clock.
extension PCM {
  /// Opens what `request` names for `direction`, and configures it for a unit of two clocks: with
  /// its own rate where the request's is beyond it.
  static func opening(_ request: DuplexRequest, _ direction: PCMDirection)
    throws(DeviceFailure) -> PCM
  {
    let name = direction == .capture ? request.captureDevice : request.playbackDevice
    var pcm = try PCM(opening: name ?? "", direction)
    let period = request.periodFrames
    // The buffer's length is no part of the delay: only what lies in it is.
    let frames = max(request.periods * period, 4 * (period + request.headroom) + 512, 8192)
    try pcm.configure(
      StreamRequest(
        sampleRate: request.sampleRate, unitRate: request.sampleRate,
        channelCount: request.channelCount, format: request.format, periodFrames: period,
        bufferFrames: frames))
    try pcm.configureWaking(availableFrames: pcm.configuration.periodFrames)
    return pcm
  }

  /// Starts it anew, whatever it was doing, empty but for so many frames of silence.
  mutating func startAnew(silence frames: Int) throws(DeviceFailure) {
    drop()
    resume()
    try prepare()
    if frames > 0 {
      let played = playSilence(frames)
      guard played == frames else {
        throw DeviceFailure(
          .refused, "The output took \(played) of \(frames) frames of silence to start with.",
          hint: "Ask for more periods with --periods, or less headroom with --headroom.")
      }
    }
    try start()
  }
}
