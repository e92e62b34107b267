import AudioBasics
import AudioClocks

/// The delays and fill levels of an `AsynchronousPair`, computed once when it is created.
struct PairTiming {
  /// The configuration of the unit, at the rate of the clock master.
  let configuration: DuplexConfiguration
  /// The quality of the converter between the two clocks.
  let quality: ConversionQuality
  /// The delay from input to output in seconds.
  let delaySeconds: Double
  /// The number of frames of the input by which its frames may arrive late.
  let arrivalFrames: Int
  /// The number of frames of the output that are filled with silence at its start.
  let silenceFrames: Int
  /// The number of frames of the output that are queued when a cycle begins.
  let minimumQueuedFrames: Double

  /// Computes the timing of two streams with the configurations `capture` and `playback` for
  /// `request`, with the clock of `master`.
  init(
    _ capture: StreamConfiguration, _ playback: StreamConfiguration, _ request: DuplexRequest,
    master: ClockMaster
  ) {
    let own = master == .capture ? capture : playback
    let (rate, period) = (own.sampleRate, own.periodFrames)
    let headroom = request.headroomFrames == nil ? period : request.atRate(rate).headroom
    let unitPerCapture = Double(rate) / Double(capture.sampleRate)
    quality = ConversionQuality(resamplerQuality: request.resamplerQuality)
    // The delay depends on the reach, which must be known before the converter is created.
    let reach = Double(quality.reach(of: capture.sampleRate, to: playback.sampleRate))
    // An input that is the master begins each cycle itself.
    let unaligned = master == .playback ? capture.periodFrames : 0
    let extra = ((reach + Double(unaligned)) * unitPerCapture).rounded(.up)
    // The delay also allows for an input that is late by half of the headroom.
    arrivalFrames = unaligned + Int(clamping: Double(headroom) / unitPerCapture) / 2
    delaySeconds = (Double(period + headroom) + extra) / Double(rate)
    let playbackPerUnit = Double(playback.sampleRate) / Double(rate)
    minimumQueuedFrames = Double(headroom) * playbackPerUnit
    // If the input is the master, the output is not filled before the first period is converted.
    let queued = Double(period + headroom) + (master == .capture ? extra : 0)
    // A server's output must not run dry before its quantum is known; PulseAudio takes 4,096 frames
    // at once when it starts. The initial silence is not part of the delay.
    let reserve =
      playback.isServer
      ? min(playback.sampleRate / 8, playback.bufferFrames - playback.periodFrames) : 0
    silenceFrames = max(Int(clamping: queued * playbackPerUnit), reserve)
    var configuration = DuplexConfiguration(
      sampleRate: rate, periodFrames: period, headroomFrames: headroom, capture: capture,
      playback: playback)
    configuration.capture?.sampleRate = rate
    configuration.playback?.sampleRate = rate
    configuration.isResampling = true
    configuration.resamplerDelayFrames = extra
    configuration.master = master
    self.configuration = configuration
  }
}
