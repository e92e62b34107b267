// Audio thread.
import AudioBasics
import RealtimeAudio

/// An ALSA PCM that plays by its own clock, beside a duplex device.
public struct ALSAOutput: ClockedOutput, ~Copyable {
  /// What it granted.
  public let playbackStream: StreamConfiguration
  private var output: ALSAStream

  /// Opens and configures the output that `request` names, at its own rate where the request's is
  /// beyond it.
  public init(opening request: DuplexRequest) throws(DeviceFailure) {
    var outward = request
    outward.captureDevice = nil
    try outward.validate()
    let pcm = try PCM.opening(outward, .playback)
    guard pcm.keepsTime else {
      throw DeviceFailure(
        .refused, "The output \(pcm.name) keeps no time, so nothing can be played along on it.",
        hint: "Name a device that plays in real time with --also-play.")
    }
    playbackStream = pcm.configuration
    output = ALSAStream(pcm, request: outward)
  }

  /// Starts it anew.
  public mutating func startOutput(silence frames: Int, at now: UInt64) throws(DeviceFailure) {
    try output.start(silence: frames)
  }

  /// Asks it where it is.
  @_noLocks
  public mutating func lookAtOutput(at now: UInt64) -> SideState { output.look() }

  /// Room for the next frames to play.
  @_noLocks
  public mutating func playbackRoom(_ frames: Int, at now: UInt64) -> DeviceFrames? {
    output.frames(frames)
  }

  /// Hands frames over to be played.
  @_noLocks
  public mutating func commit(_ frames: Int) -> Bool { output.move(frames) }

  /// Whether it can be parted with.
  public mutating func outliveLoss(telling news: Guarded<DeviceReturn?>) -> Bool {
    output.outliveLoss(telling: news)
  }

  /// Gives it up.
  @_noLocks
  public mutating func partWithOutput(silence frames: Int) { output.part(silence: frames) }

  /// Takes it back where it was found.
  @_noLocks
  public mutating func takeOutputBack(at now: UInt64) -> Int? { output.takeBack() }

  /// Stops it at once.
  public mutating func stop() { output.stop() }
}
