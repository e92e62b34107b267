import AudioClocks
import RealtimeAudio

/// Which of two devices captures and which plays.
public enum PairSide: BitwiseCopyable, Sendable {
  /// The one that captures.
  case capture
  /// The one that plays.
  case playback
}

/// What a look at one device of a pair finds.
public enum SideState: BitwiseCopyable, Sendable {
  /// It runs: so many frames have been captured or played since its start at the time told, and so
  /// many can be taken or written now.
  case running(ClockReading, available: Int)
  /// It overran, or ran dry, and stands.
  case xrun
  /// The machine slept.
  case suspended
  /// It is gone.
  case lost
}

/// Two devices that go their own ways: one captures, one plays, each by its own clock.
///
/// What `DriftingDuplex` makes one duplex device of. Driven by one thread. All but `start`,
/// `letGo`, `awaitReturn` and `stop` run on the audio thread and carry `@_noLocks`.
public protocol DevicePair: ~Copyable {
  /// What the one that captures granted.
  var captureStream: StreamConfiguration { get }
  /// What the one that plays granted.
  var playbackStream: StreamConfiguration { get }
  /// The time that both clocks' readings are told in, in nanoseconds.
  var now: UInt64 { get }

  /// Sleeps until `now` is that time, or the thread is interrupted, or a tenth of a second passed.
  mutating func sleep(until nanoseconds: UInt64)

  /// Starts one of them anew, empty; the one that plays with so many frames of silence.
  mutating func start(_ side: PairSide, silence frames: Int) throws(DeviceFailure)

  /// Asks one of them where it is.
  mutating func look(_ side: PairSide) -> SideState

  /// The next captured frames, at most the input's period. Nil where they are not there.
  mutating func capturedFrames(_ frames: Int) -> DeviceFrames?
  /// Gives captured frames back: all that were lent. False where the device failed.
  mutating func release(_ frames: Int) -> Bool
  /// Room for the next frames to play, at most the output's period. Nil where there is none.
  mutating func playbackRoom(_ frames: Int) -> DeviceFrames?
  /// Hands frames over to be played: all that were lent. False where the device failed.
  mutating func commit(_ frames: Int) -> Bool

  /// Lets go of both, since one is lost.
  mutating func letGo()
  /// Looks for both after a tenth of a second. Back, they are open and stand.
  mutating func awaitReturn() -> DeviceReturn
  /// Stops both.
  mutating func stop()
}
