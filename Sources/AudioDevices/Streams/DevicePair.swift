import AudioClocks
import RealtimeAudio

/// Two devices that go their own ways: one captures, one plays, each by its own clock.
///
/// What `DriftingDuplex` makes one duplex device of. Driven by one thread. All but `startInput`,
/// and what `ClockedOutput` names, run on the audio thread and carry `@_noLocks`.
public protocol DevicePair: ClockedOutput, ~Copyable {
  /// What the one that captures granted.
  var captureStream: StreamConfiguration { get }
  /// The time that both clocks' readings are told in, in nanoseconds.
  var now: UInt64 { get }

  /// Sleeps until `now` is that time, or the thread is interrupted, or a tenth of a second passed.
  mutating func sleep(until nanoseconds: UInt64)

  /// Starts the input anew, empty.
  mutating func startInput(at now: UInt64) throws(DeviceFailure)

  /// Asks the input where it is.
  mutating func lookAtInput(at now: UInt64) -> SideState

  /// The next captured frames, at most the input's period. Nil where they are not there.
  mutating func capturedFrames(_ frames: Int) -> DeviceFrames?

  /// Gives captured frames back: all that were lent. False where the device failed.
  mutating func release(_ frames: Int) -> Bool

  /// Gives the input up, which is lost.
  mutating func partWithInput()

  /// Takes the input back, if it was found and runs again: whether it is here.
  mutating func takeInputBack(at now: UInt64) -> Bool
}
