import AudioBasics
import CDeviceFunctions
import RealtimeAudio

/// A device that captures and plays in step: ALSA's, a simulated one, or two devices held together.
///
/// A `DuplexDevice` is made of it, which a unit drives from one thread: `start`, then `wait` and one
/// cycle after the other, then `stop`. A cycle reads `capturedFrames`, gives them back with
/// `release`, asks for `playbackRoom`, fills it and hands it over with `commit`.
///
/// - Between `start` and the first cycle the output holds `periodFrames + headroomFrames` frames
///   of silence, and again after `recover`: the latency is the same before and after. A device
///   without input starts by itself once that many frames were committed.
/// - `wait` finds `ready` at most once for each period captured.
public protocol DuplexDriver: ReconnectableDriver, ~Copyable {
  /// The functions that the audio thread calls, each of which carries `@_noLocks`.
  static var functions: DuplexFunctions { get }

  /// What was granted. Fixed from the start.
  var configuration: DuplexConfiguration { get }

  /// Gets both directions going together.
  mutating func start() throws(DeviceFailure)

  /// After an xrun or a suspension: starts both directions again as `start` does. The frames lost
  /// meanwhile are told with the next period. Called on the audio thread, while no sound moves.
  mutating func recover() throws(DeviceFailure)

  /// Lets what is queued be heard, for as long as that must take and no longer, then stops both
  /// directions. With `draining` false, stops at once.
  mutating func stop(draining: Bool)
}

/// A driver whose device may go away and come back.
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

/// What the audio thread calls of a driver: functions that find it at the address in their first
/// argument. `DuplexDriver` has what they must do.
///
/// They are C functions, so that the compiler can prove their callers free of locks and
/// allocation; mark each `@_noLocks` and it proves them as well.
public struct DuplexFunctions: @unchecked Sendable {
  // @unchecked because nothing changes it after it was made.
  let table: UnsafePointer<duplex_functions>

  /// The functions of one type of driver. Made once: it is never freed.
  ///
  /// - `now`: the device's clock, in nanoseconds: the host's, or virtual time.
  /// - `wait`: sleeps until the next period is there, the nanoseconds in the second argument have
  ///   passed (where the device can tell), or the thread is interrupted (`RealtimeThread.interrupt`). Fills the
  ///   `DeviceStatus` at the address in the third argument: `readiness` and `hasEvents` always, all
  ///   else with `ready`.
  /// - `captured`: stores the next captured frames, at most a period, to the `DeviceFrames?` in the
  ///   third argument; nil where the device has failed, and the next `wait` says how.
  /// - `release`: gives the oldest captured frames back to the device.
  /// - `room`: stores the room for the next frames to play, at most a period, in the same way; nil
  ///   where the device has failed or its buffer is full.
  /// - `commit`: hands frames of that room over to be played.
  /// - `takeEvent`: stores the oldest event not told yet to the `DeviceEvent?` in the second argument.
  ///   Called only after `hasEvents`.
  /// - `secondary`: stores how the secondary output of that number does to the
  ///   `SecondaryOutputReading?` in the third argument.
  public init(
    now: @escaping @convention(c) (DeviceMemory) -> UInt64,
    wait: @escaping @convention(c) (DeviceMemory, UInt64, DeviceMemory) -> Void,
    captured: @escaping @convention(c) (DeviceMemory, Int, DeviceMemory) -> Void,
    release: @escaping @convention(c) (DeviceMemory, Int) -> Void,
    room: @escaping @convention(c) (DeviceMemory, Int, DeviceMemory) -> Void,
    commit: @escaping @convention(c) (DeviceMemory, Int) -> Void,
    takeEvent: @escaping @convention(c) (DeviceMemory, DeviceMemory) -> Void = { _, _ in },
    secondary: @escaping @convention(c) (DeviceMemory, Int, DeviceMemory) -> Void = { _, _, _ in }
  ) {
    let made = UnsafeMutablePointer<duplex_functions>.allocate(capacity: 1)
    made.initialize(
      to: duplex_functions(
        now: now, wait: wait, captured: captured, release: release, room: room, commit: commit,
        take_event: takeEvent, secondary: secondary))
    table = UnsafePointer(made)
  }
}
