import AudioBasics
import RealtimeAudio

/// A device that captures and plays in step: ALSA's, a simulated one, or two synchronised devices.
///
/// A `DuplexDevice` is created from it, which a unit drives from one thread at a time: `start` on
/// any thread, then `wait` and one cycle after the other on the audio thread, then `stop` on any
/// thread. A cycle reads `capturedFrames`, releases them with `release`, requests `playbackRoom`,
/// fills it and hands it over with `commit`. The functions that are called in a cycle must be free
/// of locks and allocation: mark them `@_noLocks`.
///
/// - Between `start` and the first cycle the output holds `periodFrames + headroomFrames` frames of
///   silence, and again after `recover`: the latency is the same before and after. A device without
///   input starts by itself once that many frames were committed.
/// - `wait` returns `ready` at most once for each period captured.
public protocol DuplexDriver: ReconnectableDriver, ~Copyable {
  /// A function with `@_noLocks` that calls `perform` for this type.
  static var function: DriverFunction { get }

  /// The configuration that was granted. It does not change.
  var configuration: DuplexConfiguration { get }

  /// The device's clock, in nanoseconds: the host's, or virtual time.
  var now: UInt64 { get }

  /// Sleeps until the next period is available, for at most that time (if the device can measure
  /// it), or until the thread is interrupted (`RealtimeThread.interrupt`). Always fills `readiness`
  /// and `hasEvents`, and all other properties with `ready`.
  mutating func wait(noLongerThan nanoseconds: UInt64, _ status: inout DeviceStatus)

  /// Lends the next captured frames, at most a period. Returns nil if the device has failed; the
  /// next `wait` reports how.
  mutating func capturedFrames(_ frames: Int) -> DeviceFrames?

  /// Releases the oldest captured frames to the device.
  mutating func release(_ frames: Int)

  /// Lends room for the next frames to play, at most a period. Returns nil if the device has failed
  /// or its buffer is full.
  mutating func playbackRoom(_ frames: Int) -> DeviceFrames?

  /// Hands frames of that room over to be played.
  mutating func commit(_ frames: Int)

  /// Returns the oldest event that was not reported yet. Called only after `hasEvents`, until it
  /// returns nil because there is no other.
  mutating func takeEvent() -> DeviceEvent?

  /// Returns the drift and xruns of the secondary output with that index; nil if there is none.
  func secondaryReading(_ index: Int) -> SecondaryOutputReading?

  /// Starts both directions together. Throws if the device does not start.
  mutating func start() throws(DeviceFailure)

  /// Starts both directions again, as `start` does, after an xrun or a suspension. The frames lost
  /// in between are reported with the next period. Called on the audio thread while no audio is
  /// transferred. Throws if the device cannot be started again; `.lost` if it went away.
  mutating func recover() throws(DeviceFailure)

  /// Plays the queued frames, for no longer than that takes, then stops both directions. If
  /// `draining` is false, stops at once.
  mutating func stop(draining: Bool)
}

/// A driver whose device may go away and come back. The audio thread calls it, except before the
/// start.
public protocol ReconnectableDriver: ~Copyable {
  /// Makes the driver survive the loss of its device. Called before the start. A driver of two
  /// devices searches for the lost one on another thread than the audio thread, writes the results
  /// to `news`, and reports the loss as an event rather than by `wait`.
  mutating func enableReconnection(reportingTo news: MutexBox<DeviceReturn?>)

  /// Closes a device that is lost, at once, so that the system's driver can release it as well.
  /// Only `pollForReconnection`, the clock and `stop` are called until the device is back.
  mutating func close()

  /// Sleeps for 100 ms, or less if the thread is interrupted, then checks whether the same device
  /// is back. If it is, and grants the same configuration as before, both directions run again as
  /// after `recover`, and the next period reports the number of frames for which it was away.
  /// Otherwise the device stays closed. It may allocate, because no audio is transferred in the
  /// meantime.
  mutating func pollForReconnection() -> DeviceReturn
}

/// The result of a search for a device that went away.
public enum DeviceReturn: Sendable, Equatable {
  /// The device is not present, or cannot be opened yet.
  case absent
  /// The device is present, and has other settings than before or cannot be opened.
  case refused(DeviceFailure)
  /// The device is present and runs again; the numbers of its cards, if it has cards.
  case returned(cards: [Int])

  /// Creates the result of a failed attempt to open the device again.
  init(_ failure: DeviceFailure) {
    switch failure.kind {
    case .notFound, .lost: self = .absent
    case .busy, .refused, .permissionDenied, .invalidRequest: self = .refused(failure)
    }
  }
}

/// The selection of the search results that are reported to the user.
struct ReconnectReport {
  /// The number of equal refusals in succession.
  private var refusals = 0
  private var refusal: DeviceFailure?

  init() {}

  /// Records the result of a search. Returns whether it must be reported to the user: the device is
  /// back, or is present and cannot be opened.
  mutating func shouldReport(_ found: DeviceReturn) -> Bool {
    switch found {
    case .absent:
      refusals = 0
      return false
    case .returned: return true
    case .refused(let failure):
      refusals = failure == refusal ? refusals + 1 : 1
      refusal = failure
      // A sound server opens new cards briefly to examine them, and access rights are set late.
      let isFinal = failure.kind == .refused || failure.kind == .invalidRequest
      return refusals == (isFinal ? 1 : 20)
    }
  }
}
