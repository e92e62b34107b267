// Audio thread.
import AudioBasics
import AudioClocks
import CDeviceFunctions
import RealtimeAudio

/// What a look at a device with a clock of its own finds.
public enum StreamState: BitwiseCopyable, Sendable {
  /// It runs: the reading has the frames captured or played since its start, and when that was;
  /// `available` frames can be taken or written now.
  case running(ClockReading, available: Int)
  /// It overran, or ran dry, and stands.
  case xrun
  /// The machine slept.
  case suspended
  /// It is gone.
  case lost
}

/// One direction of a device that goes by a clock of its own.
///
/// A `DeviceStream` is made of it. Driven by one thread, and never waited for: the bridge that drives
/// it goes by another clock. Times are always the driver's, in nanoseconds: the host's monotonic clock, or
/// virtual time.
public protocol StreamDriver: ~Copyable {
  /// The functions that the audio thread calls, each of which carries `@_noLocks`.
  static var functions: StreamFunctions { get }

  /// What it granted.
  var configuration: StreamConfiguration { get }

  /// Starts it anew, an output with `frames` frames of silence.
  mutating func start(silence frames: Int, at now: UInt64) throws(DeviceFailure)

  /// From now on a stream that is lost can be detached: it is looked for beside the audio thread,
  /// and what is found is written to `news`. False where that cannot be.
  mutating func enableReconnection(telling news: MutexBox<DeviceReturn?>) -> Bool

  /// Stops it at once.
  mutating func stop()
}

/// What the audio thread calls of a stream: functions that find it at the address in their first
/// argument.
public struct StreamFunctions: @unchecked Sendable {
  // @unchecked because nothing changes it after it was made.
  let table: UnsafePointer<stream_functions>

  /// The functions of one type of stream. Made once: it is never freed.
  ///
  /// - `look`: stores where it is at a time to the `StreamState` in the third argument.
  /// - `frames`: stores the next captured frames, or the room for the next to play, at most its
  ///   period, to the `DeviceFrames?` in the fourth argument; nil where there are none.
  /// - `commit`: gives captured frames back, or hands frames over to be played: all that were lent.
  ///   False where the device failed.
  /// - `detach`: gives up a stream that is lost. When it is found again an output starts with
  ///   the frames of silence in the second argument.
  /// - `reattach`: takes it back, if it was found and runs again: the frames of silence it began
  ///   with, or -1 where it is still away.
  public init(
    look: @escaping @convention(c) (DeviceMemory, UInt64, DeviceMemory) -> Void,
    frames: @escaping @convention(c) (DeviceMemory, Int, UInt64, DeviceMemory) -> Void,
    commit: @escaping @convention(c) (DeviceMemory, Int) -> Bool,
    detach: @escaping @convention(c) (DeviceMemory, Int) -> Void,
    reattach: @escaping @convention(c) (DeviceMemory, UInt64) -> Int
  ) {
    let made = UnsafeMutablePointer<stream_functions>.allocate(capacity: 1)
    made.initialize(
      to: stream_functions(
        look: look, frames: frames, commit: commit, detach: detach, reattach: reattach))
    table = UnsafePointer(made)
  }
}

/// A stream as a bridge drives it: any driver, behind the table of its functions.
public struct DeviceStream: ~Copyable, @unchecked Sendable {
  // @unchecked because the driver has one owner, which moves with the value.
  private let functions: UnsafePointer<stream_functions>
  private let memory: UnsafeMutableRawPointer
  private let control: Unmanaged<StreamControl>

  /// The stream that `driver` drives.
  public init<Driver: StreamDriver & ~Copyable>(_ driver: consuming Driver) {
    let box = StreamBox(driver)
    functions = Driver.functions.table
    memory = UnsafeMutableRawPointer(box.driver.pointer)
    control = .passRetained(box)
  }

  deinit { control.release() }

  private var reached: StreamControl { control.takeUnretainedValue() }

  /// What it granted.
  public var configuration: StreamConfiguration { reached.configuration }

  /// Starts it anew.
  public mutating func start(silence frames: Int, at now: UInt64) throws(DeviceFailure) {
    try reached.start(silence: frames, at: now)
  }

  /// Asks it where it is.
  @_noLocks
  public mutating func look(at now: UInt64) -> StreamState {
    var state = StreamState.lost
    stream_look(functions, memory, now, &state)
    return state
  }

  /// The next captured frames, or room for the next to play, at most its period.
  @_noLocks
  public mutating func frames(_ frames: Int, at now: UInt64) -> DeviceFrames? {
    var lent: DeviceFrames?
    stream_frames(functions, memory, frames, now, &lent)
    return lent
  }

  /// Gives captured frames back, or hands frames over. False where the device failed.
  @_noLocks
  public mutating func commit(_ frames: Int) -> Bool { stream_commit(functions, memory, frames) }

  /// Gives up a stream that is lost.
  @_noLocks
  public mutating func detach(silence frames: Int = 0) { stream_detach(functions, memory, frames) }

  /// Takes it back where it was found and runs: the frames of silence it began with.
  @_noLocks
  public mutating func reattach(at now: UInt64) -> Int? {
    let silence = stream_reattach(functions, memory, now)
    return silence < 0 ? nil : silence
  }

  /// A stream that is lost can be detached from now on; false where it cannot.
  public mutating func enableReconnection(telling news: MutexBox<DeviceReturn?>) -> Bool {
    reached.enableReconnection(telling: news)
  }

  /// Stops it at once.
  public mutating func stop() { reached.stop() }
}

/// What is asked of a stream before it runs, when it broke, and at the end.
private class StreamControl {
  let configuration: StreamConfiguration
  init(_ configuration: StreamConfiguration) { self.configuration = configuration }
  func start(silence frames: Int, at now: UInt64) throws(DeviceFailure) {}
  func enableReconnection(telling news: MutexBox<DeviceReturn?>) -> Bool { false }
  func stop() {}
}

/// The same for a stream of one type, which it owns.
private final class StreamBox<Driver: StreamDriver & ~Copyable>: StreamControl {
  let driver: SharedState<Driver>

  init(_ driver: consuming Driver) {
    let configuration = driver.configuration
    self.driver = SharedState(driver)
    super.init(configuration)
  }

  override func start(silence frames: Int, at now: UInt64) throws(DeviceFailure) {
    try driver.pointer.pointee.start(silence: frames, at: now)
  }
  override func enableReconnection(telling news: MutexBox<DeviceReturn?>) -> Bool {
    driver.pointer.pointee.enableReconnection(telling: news)
  }
  override func stop() { driver.pointer.pointee.stop() }
}

/// The clock by which two devices are driven: the host's, or virtual time that jumps.
public struct DeviceTime: BitwiseCopyable, Sendable {
  private let isVirtual: Bool
  private var time: UInt64 = 0

  /// The host's monotonic clock, or virtual time from 0 on.
  public init(isVirtual: Bool = false) { self.isVirtual = isVirtual }

  /// Now, in nanoseconds.
  public var now: UInt64 {
    @_noLocks get { isVirtual ? time : HostClock.nanoseconds }
  }

  /// Sleeps until then, the thread is interrupted, or a tenth of a second passed; virtual time jumps
  /// there.
  @_noLocks
  public mutating func sleep(until nanoseconds: UInt64) {
    if isVirtual {
      time = max(time, nanoseconds)
    } else {
      HostClock.sleep(until: min(nanoseconds, now &+ 100_000_000))
    }
  }
}
