// Audio thread.
import AudioBasics
import AudioClocks
import RealtimeAudio

/// Two ALSA PCMs, each with a clock of its own.
public struct ALSAPair: DevicePair, ~Copyable {
  /// What the input granted.
  public let captureStream: StreamConfiguration
  /// What the output granted.
  public let playbackStream: StreamConfiguration

  private var input: ALSAStream
  private var output: ALSAStream
  private let hasClocks: Bool

  init(input: consuming ALSAStream, output: consuming ALSAStream, hasClocks: Bool) {
    captureStream = input.stream
    playbackStream = output.stream
    self.input = input
    self.output = output
    self.hasClocks = hasClocks
  }

  /// Whether both keep time; ALSA's `null` does not.
  public var keepsTime: Bool {
    @_noLocks get { hasClocks }
  }

  /// The host's monotonic clock.
  public var now: UInt64 {
    @_noLocks get { HostClock.nanoseconds }
  }

  /// Sleeps until then, for a tenth of a second at most.
  @_noLocks
  public mutating func sleep(until nanoseconds: UInt64) {
    HostClock.sleep(until: min(nanoseconds, now &+ 100_000_000))
  }

  /// Starts the input anew.
  public mutating func startInput(at now: UInt64) throws(DeviceFailure) {
    try input.start()
  }

  /// Starts the output anew.
  public mutating func startOutput(silence frames: Int, at now: UInt64) throws(DeviceFailure) {
    try output.start(silence: frames)
  }

  /// Asks the input where it is.
  @_noLocks
  public mutating func lookAtInput(at now: UInt64) -> SideState { input.look() }

  /// Asks the output where it is.
  @_noLocks
  public mutating func lookAtOutput(at now: UInt64) -> SideState { output.look() }

  /// The next captured frames.
  @_noLocks
  public mutating func capturedFrames(_ frames: Int) -> DeviceFrames? { input.frames(frames) }

  /// Gives captured frames back.
  @_noLocks
  public mutating func release(_ frames: Int) -> Bool { input.move(frames) }

  /// Room for the next frames to play.
  @_noLocks
  public mutating func playbackRoom(_ frames: Int, at now: UInt64) -> DeviceFrames? {
    output.frames(frames)
  }

  /// Hands frames over to be played.
  @_noLocks
  public mutating func commit(_ frames: Int) -> Bool { output.move(frames) }

  /// Whether both can be parted with.
  public mutating func outliveLoss(telling news: Guarded<DeviceReturn?>) -> Bool {
    input.outliveLoss(telling: news) && output.outliveLoss(telling: news)
  }

  /// Gives the input up.
  @_noLocks
  public mutating func partWithInput() { input.part() }

  /// Gives the output up.
  @_noLocks
  public mutating func partWithOutput(silence frames: Int) { output.part(silence: frames) }

  /// Takes the input back where it was found.
  @_noLocks
  public mutating func takeInputBack(at now: UInt64) -> Bool { input.takeBack() != nil }

  /// Takes the output back where it was found.
  @_noLocks
  public mutating func takeOutputBack(at now: UInt64) -> Int? { output.takeBack() }

  /// Stops both at once.
  public mutating func stop() {
    input.stop()
    output.stop()
  }
}
