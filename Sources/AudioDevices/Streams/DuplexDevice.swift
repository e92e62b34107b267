import AudioClocks
import RealtimeAudio

/// What a device says when it is asked for the next period.
public enum DeviceReadiness: BitwiseCopyable, Sendable {
  /// A period was captured (or, with no input, there is room for one to play).
  case ready
  /// Nothing happened, and the sleep was interrupted or long enough: ask again, or stop.
  case waiting
  /// The device stopped because the input overran or the output ran dry: recover it.
  case xrun(TimelineEvent.Kind)
  /// The machine slept: recover it.
  case suspended
  /// The device is gone, or does not do what it said.
  case lost
}

/// What a look for a device that went away finds.
public enum DeviceReturn: Sendable, Equatable {
  /// It is not there, or not to be had yet.
  case absent
  /// It is there, and does not do what it did before, or cannot be had.
  case refused(DeviceFailure)
  /// It is there and going again, as card number so and so, where it is a card.
  case returned(cards: [Int])
}

/// A device that captures and plays in step: ALSA's, or a simulated one.
///
/// The unit drives it from one thread: `start`, then `wait` and one cycle after the other, then
/// `stop`. A cycle reads `capturedFrames`, gives them back with `release`, asks for
/// `playbackRoom`, fills it and hands it over with `commit`. All of these but `start`, `recover`,
/// `close`, `pollForReconnection`, `enableReconnection` and `stop` run on the audio thread and carry `@_noLocks`.
///
/// - Between `start` and the first cycle the output holds `periodFrames + headroomFrames` frames
///   of silence, and again after `recover`: the latency is the same before and after. A device
///   without input starts by itself once that many frames were committed.
/// - `wait` answers `ready` at most once for each period captured.
public protocol DuplexDevice: ~Copyable {
  /// What was granted. Fixed from the start.
  var configuration: DuplexConfiguration { get }

  /// The device's clock now, in nanoseconds: the host's, or virtual time.
  var now: UInt64 { get }

  /// When the newest captured frame was complete (or, with no input, when room was found), on the
  /// clock of `now`.
  var periodTime: UInt64 { get }

  /// The clock that the frames of this cycle go by; nil where it is not known better than by the
  /// times of the cycles.
  var unitClock: UnitClock? { get }

  /// When `wait` last answered `ready`, on the clock of `now`: where the cycle's work begins.
  var readyTime: UInt64 { get }

  /// Frames from input to output as the driver itself counts them, measured in the first periods
  /// after a start; 0 where it is not known.
  var claimedLatencyFrames: Int { get }

  /// How two clocks are held together; nil where there is only one.
  var drift: DriftReading? { get }

  /// Gets both directions going together.
  mutating func start() throws(DeviceFailure)

  /// Sleeps until the next period is there, or the thread is interrupted
  /// (`RealtimeThread.interrupt`), which whoever watches a unit does when it stands still.
  mutating func wait() -> DeviceReadiness

  /// The same for one who has more to look at: after so many nanoseconds it answers `waiting`, where
  /// the device can.
  mutating func wait(noLongerThan nanoseconds: UInt64) -> DeviceReadiness

  /// Frames lost since the last cycle, found out in `recover` or `wait`; asked once, then 0.
  mutating func takeLostFrames() -> Int

  /// Frames of the input that were lost since the last cycle while the timeline went on, with
  /// silence in their places; nil while it is not known how many. Asked once, then 0.
  mutating func takeBridgedFrames() -> Int?

  /// The next `frames` captured frames, at most a period. Nil where the device has failed; the
  /// next `wait` says how.
  mutating func capturedFrames(_ frames: Int) -> DeviceFrames?

  /// Gives the oldest `frames` captured frames back to the device.
  mutating func release(_ frames: Int)

  /// Room for the next `frames` frames to play, at most a period. Nil where the device has failed
  /// or its buffer is full.
  mutating func playbackRoom(_ frames: Int) -> DeviceFrames?

  /// Hands `frames` frames of that room over to be played.
  mutating func commit(_ frames: Int)

  /// After an xrun or a suspension: starts both directions again as `start` does. The frames lost
  /// meanwhile are told by `takeLostFrames` with the next cycle.
  mutating func recover() throws(DeviceFailure)

  /// Lets go of a device that is lost, at once, so that its driver can let it go as well. Only
  /// `pollForReconnection`, the clock and `stop` are asked until it is back.
  mutating func close()

  /// Sleeps for a tenth of a second, less where the thread is interrupted, then looks whether the
  /// same device is there again. If it is and grants what it granted before, both directions are
  /// going again as after `recover`; `takeLostFrames` tells with the next cycle how many frames it
  /// was away for. Else nothing of it stays open. It may allocate: no sound moves meanwhile.
  mutating func pollForReconnection() -> DeviceReturn

  /// Before the start: whoever drives it goes on as long as anything does. A device made of two looks
  /// for the one that is lost beside the audio thread, writes what is found to `news`, and tells by
  /// `takeEvents` rather than by `wait`.
  mutating func enableReconnection(telling news: MutexBox<DeviceReturn?>)

  /// What happened to one of two devices, asked after each `wait` until there is nothing more.
  mutating func takeEvents() -> SideEvents?

  /// How a further output does that plays the same; nil where there is none of that number.
  func furtherReading(_ index: Int) -> SecondaryOutputReading?

  /// Lets what is queued be heard, for as long as that must take and no longer, then stops both
  /// directions. With `draining` false, stops at once.
  mutating func stop(draining: Bool)
}

extension DuplexDevice where Self: ~Copyable {
  /// One clock stands as long as its input does.
  @_noLocks
  public mutating func takeBridgedFrames() -> Int? { 0 }

  /// Its cycles come when they are due.
  public var unitClock: UnitClock? {
    @_noLocks get { nil }
  }

  /// It sleeps until its next period.
  public mutating func wait(noLongerThan nanoseconds: UInt64) -> DeviceReadiness { wait() }

  /// One clock has nothing to drift against.
  public var drift: DriftReading? {
    @_noLocks get { nil }
  }

  /// One output is enough.
  @_noLocks
  public func furtherReading(_ index: Int) -> SecondaryOutputReading? { nil }

  /// One device is there or is not.
  public mutating func enableReconnection(telling news: MutexBox<DeviceReturn?>) {}

  /// One device has nothing to tell that `wait` does not.
  @_noLocks
  public mutating func takeEvents() -> SideEvents? { nil }
}

/// What happened to one of two devices while the other went on.
public struct SideEvents: BitwiseCopyable, Sendable {
  /// What it was.
  public var kind: TimelineEvent.Kind
  /// Frames of the unit's that nobody captured meanwhile.
  public var frames: Int
  /// How many of them were silence on the timeline, rather than a gap in it.
  public var silentFrames: Int

  /// News of this kind.
  @_noLocks
  public init(_ kind: TimelineEvent.Kind, frames: Int = 0, silentFrames: Int = 0) {
    self.kind = kind
    self.frames = frames
    self.silentFrames = silentFrames
  }
}

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
/// Driven by one thread, and never waited for. All but `startOutput`, `enableReconnection` and `stop` run
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
  mutating func enableReconnection(telling news: MutexBox<DeviceReturn?>) -> Bool

  /// Gives the output up, which is lost. When it is found again it starts with so many frames of
  /// silence.
  mutating func partWithOutput(silence frames: Int)

  /// Takes the output back, if it was found and runs again: with how many frames of silence it
  /// began, nil where it is still away.
  mutating func takeOutputBack(at now: UInt64) -> Int?

  /// Stops all that runs.
  mutating func stop()
}

/// Two devices that go their own ways: one captures, one plays, each by its own clock.
///
/// What `AsynchronousPair` makes one duplex device of. Driven by one thread. All but `startInput`,
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
