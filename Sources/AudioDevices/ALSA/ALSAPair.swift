// Audio thread.
import AudioBasics
import AudioClocks
import CALSA
import Glibc
import RealtimeAudio

/// Two ALSA PCMs, each with a clock of its own.
public struct ALSAPair: DevicePair, ~Copyable {
  /// What the input granted.
  public private(set) var captureStream: StreamConfiguration
  /// What the output granted.
  public private(set) var playbackStream: StreamConfiguration

  var capture: PCM?
  var playback: PCM?
  /// Frames given back to the input, and handed to the output, since they started.
  private var released = 0
  private var committed = 0
  private let hasClocks: Bool
  let request: DuplexRequest
  let places: DevicePlaces

  init(
    capture: consuming PCM, playback: consuming PCM, request: DuplexRequest
  ) {
    captureStream = capture.configuration
    playbackStream = playback.configuration
    hasClocks = capture.keepsTime && playback.keepsTime
    self.capture = consume capture
    self.playback = consume playback
    self.request = request
    places = DevicePlaces(request)
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

  /// Starts one of them anew.
  public mutating func start(_ side: PairSide, silence frames: Int) throws(DeviceFailure) {
    switch side {
    case .capture:
      released = 0
      capture?.drop()
      capture?.resume()
      try capture?.prepare()
      try capture?.start()
    case .playback:
      committed = 0
      playback?.drop()
      playback?.resume()
      try playback?.prepare()
      committed = playback?.playSilence(frames) ?? 0
      guard committed == frames else {
        throw DeviceFailure(
          .refused, "The output took \(committed) of \(frames) frames of silence to start with.",
          hint: "Ask for more periods with --periods, or less headroom with --headroom.")
      }
      try playback?.start()
    }
  }

  /// Asks one of them where it is, and when that was, by its own stamp where it makes sense.
  @_noLocks
  public mutating func look(_ side: PairSide) -> SideState {
    let isCapture = if case .capture = side { true } else { false }
    let available = (isCapture ? capture?.availableNow() : playback?.availableNow()) ?? -1
    guard available >= 0 else { return Self.state(ofCode: available) }
    let now = HostClock.nanoseconds
    let (there, time) =
      (isCapture
        ? capture?.stamped(available, at: now) : playback?.stamped(available, at: now))
      ?? (available, now)
    let frames =
      isCapture ? released &+ there : committed &- playbackStream.bufferFrames &+ there
    return .running(ClockReading(frames: frames, nanoseconds: time), available: available)
  }

  @_noLocks
  private static func state(ofCode code: Int) -> SideState {
    switch Int32(truncatingIfNeeded: 0 &- code) {
    case EPIPE: .xrun
    case ESTRPIPE: .suspended
    default: .lost
    }
  }

  /// The next captured frames.
  @_noLocks
  public mutating func capturedFrames(_ frames: Int) -> DeviceFrames? {
    capture?.borrowFrames(frames) ?? nil
  }

  /// Gives captured frames back.
  @_noLocks
  public mutating func release(_ frames: Int) -> Bool {
    released &+= frames
    return capture?.returnFrames(frames) ?? false
  }

  /// Room for the next frames to play.
  @_noLocks
  public mutating func playbackRoom(_ frames: Int) -> DeviceFrames? {
    playback?.borrowFrames(frames) ?? nil
  }

  /// Hands frames over to be played.
  @_noLocks
  public mutating func commit(_ frames: Int) -> Bool {
    committed &+= frames
    return playback?.returnFrames(frames) ?? false
  }

  /// Closes both.
  public mutating func letGo() {
    capture = nil
    playback = nil
  }

  /// Looks for the same devices, by who they are.
  public mutating func awaitReturn() -> DeviceReturn {
    HostClock.pause(milliseconds: 100)
    guard let found = places.locate(request) else { return .absent }
    do throws(DeviceFailure) {
      try adopt(ALSAPair(opening: found.request))
      return .returned(cards: found.cards)
    } catch {
      letGo()
      return error.kind == .notFound || error.kind == .lost ? .absent : .refused(error)
    }
  }

  /// Stops both at once.
  public mutating func stop() {
    capture?.drop()
    playback?.drop()
  }
}
