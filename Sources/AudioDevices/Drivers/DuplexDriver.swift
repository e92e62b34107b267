import AudioBasics
import RealtimeAudio

/// A device that captures and plays in step: ALSA's, a simulated one, or two devices held together.
///
/// A `DuplexDevice` is made of it, which a unit drives from one thread: `start`, then `wait` and
/// one cycle after the other, then `stop`. A cycle reads `capturedFrames`, gives them back with
/// `release`, asks for `playbackRoom`, fills it and hands it over with `commit`. What it is asked
/// in a cycle must be free of locks and allocation: mark it `@_noLocks`.
///
/// - Between `start` and the first cycle the output holds `periodFrames + headroomFrames` frames
///   of silence, and again after `recover`: the latency is the same before and after. A device
///   without input starts by itself once that many frames were committed.
/// - `wait` finds `ready` at most once for each period captured.
public protocol DuplexDriver: ReconnectableDriver, ~Copyable {
  /// A marked function that calls `perform` for this type.
  static var function: DriverFunction { get }

  /// What was granted. Fixed from the start.
  var configuration: DuplexConfiguration { get }

  /// The device's clock, in nanoseconds: the host's, or virtual time.
  var now: UInt64 { get }

  /// Sleeps until the next period is there, that long (where the device can tell), or until the
  /// thread is interrupted (`RealtimeThread.interrupt`). Fills `readiness` and `hasEvents` always,
  /// all else with `ready`.
  mutating func wait(noLongerThan nanoseconds: UInt64, _ status: inout DeviceStatus)

  /// The next captured frames, at most a period; nil where the device has failed, and the next
  /// `wait` says how.
  mutating func capturedFrames(_ frames: Int) -> DeviceFrames?

  /// Gives the oldest captured frames back to the device.
  mutating func release(_ frames: Int)

  /// Room for the next frames to play, at most a period; nil where the device has failed or its
  /// buffer is full.
  mutating func playbackRoom(_ frames: Int) -> DeviceFrames?

  /// Hands frames of that room over to be played.
  mutating func commit(_ frames: Int)

  /// The oldest event not told yet. Called only after `hasEvents`.
  mutating func takeEvent() -> DeviceEvent?

  /// How the secondary output of that number does; nil where there is none.
  func secondaryReading(_ index: Int) -> SecondaryOutputReading?

  /// Gets both directions going together. Throws where the device does not start.
  mutating func start() throws(DeviceFailure)

  /// After an xrun or a suspension: starts both directions again as `start` does. The frames lost
  /// meanwhile are told with the next period. Called on the audio thread, while no sound moves.
  /// Throws where the device cannot be started again; `.lost` where it went away.
  mutating func recover() throws(DeviceFailure)

  /// Lets what is queued be played, for as long as that must take and no longer, then stops both
  /// directions. With `draining` false, stops at once.
  mutating func stop(draining: Bool)
}

/// A driver whose device may go away and come back.
/// Called by the audio thread, but before the start.
public protocol ReconnectableDriver: ~Copyable {
  /// Before the start: the driver outlives the loss of its device. One that is made of two devices
  /// looks for the one that is lost beside the audio thread, writes what is found to `news`, and
  /// reports it as an event rather than by `wait`.
  mutating func enableReconnection(telling news: MutexBox<DeviceReturn?>)

  /// Closes a device that is lost, at once, so that its driver can let it go as well. Only
  /// `pollForReconnection`, the clock and `stop` are asked until it is back.
  mutating func close()

  /// Sleeps for a tenth of a second, less where the thread is interrupted, then looks whether the
  /// same device is there again. If it is and grants what it granted before, both directions are
  /// going again as after `recover`; the next period tells how many frames it was away for. Else
  /// nothing of it stays open. It may allocate: no sound moves meanwhile.
  mutating func pollForReconnection() -> DeviceReturn
}

/// The result of looking for a device that went away.
public enum DeviceReturn: Sendable, Equatable {
  /// It is not there, or cannot be opened yet.
  case absent
  /// It is there, and does not do what it did before, or cannot be opened.
  case refused(DeviceFailure)
  /// It is there and runs again; the numbers of its cards, where it has cards.
  case returned(cards: [Int])

  /// What it means that the device could not be opened again.
  init(_ failure: DeviceFailure) {
    switch failure.kind {
    case .notFound, .lost: self = .absent
    case .busy, .refused, .permissionDenied, .invalidRequest: self = .refused(failure)
    }
  }
}

/// Which of the looks for a device that went away are worth telling.
struct ReconnectReport {
  /// Looks that ended alike, one after the other.
  private var refusals = 0
  private var refusal: DeviceFailure?

  init() {}

  /// Takes what a look found, and answers whether the user is to be told: that the device is back,
  /// or is there and cannot be opened.
  mutating func isNews(_ found: DeviceReturn) -> Bool {
    switch found {
    case .absent:
      refusals = 0
      return false
    case .returned: return true
    case .refused(let failure):
      refusals = failure == refusal ? refusals + 1 : 1
      refusal = failure
      // A sound server opens new cards for a moment to examine them, and access rights come late.
      let isFinal = failure.kind == .refused || failure.kind == .invalidRequest
      return refusals == (isFinal ? 1 : 20)
    }
  }
}
