import AudioClocks
import RealtimeAudio

/// What a look at a device with a clock of its own finds.
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

/// An output with a clock of its own, fed by somebody who goes by another one.
///
/// Driven by one thread, and never waited for. All but `startOutput`, `outliveLoss` and `stop` run
/// on the audio thread and carry `@_noLocks`. `now` is always the driver's time, in nanoseconds:
/// the host's monotonic clock, or virtual time.
public protocol ClockedOutput: ~Copyable {
  /// What it granted.
  var playbackStream: StreamConfiguration { get }

  /// Starts it anew, empty but for so many frames of silence.
  mutating func startOutput(silence frames: Int, at now: UInt64) throws(DeviceFailure)

  /// Asks it where it is.
  mutating func lookAtOutput(at now: UInt64) -> SideState

  /// Room for the next frames to play, at most its period. Nil where there is none.
  mutating func playbackRoom(_ frames: Int, at now: UInt64) -> DeviceFrames?

  /// Hands frames over to be played: all that were lent. False where the device failed.
  mutating func commit(_ frames: Int) -> Bool

  /// From now on a device that is lost can be parted with: somebody looks for it beside the audio
  /// thread, and writes to `news` what he finds. False where nobody can.
  mutating func outliveLoss(telling news: Guarded<DeviceReturn?>) -> Bool

  /// Gives the output up, which is lost. When it is found again it starts with so many frames of
  /// silence.
  mutating func partWithOutput(silence frames: Int)

  /// Takes the output back, if it was found and runs again: with how many frames of silence it
  /// began, nil where it is still away.
  mutating func takeOutputBack(at now: UInt64) -> Int?

  /// Stops all that runs.
  mutating func stop()
}
