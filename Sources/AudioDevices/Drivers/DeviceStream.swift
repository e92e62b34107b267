// Audio thread.
import AudioBasics
import AudioClocks
import RealtimeAudio

/// The state of a device with a clock of its own: running, stopped by an xrun, suspended or lost.
public enum StreamState: BitwiseCopyable, Sendable {
  /// It runs: the reading has the frames captured or played since its start, and when that was;
  /// `available` frames can be taken or written now.
  case running(ClockReading, available: Int)
  /// It overran, or ran dry, and has stopped.
  case xrun
  /// The machine slept.
  case suspended
  /// It is gone.
  case lost
}

/// One direction of a device that goes by a clock of its own.
///
/// A `DeviceStream` is made of it. Driven by one thread, and never waited for: the bridge that
/// drives it goes by another clock. Times are always the driver's, in nanoseconds: the host's
/// monotonic clock, or virtual time.
public protocol StreamDriver: ~Copyable {
  /// A marked function that calls `perform` for this type.
  static var function: DriverFunction { get }

  /// What it granted.
  var configuration: StreamConfiguration { get }

  /// The state of the stream at a time.
  mutating func readState(at now: UInt64) -> StreamState

  /// The next captured frames, or the room for the next to play, at most its period; nil where
  /// there are none.
  mutating func frames(_ frames: Int, at now: UInt64) -> DeviceFrames?

  /// Gives captured frames back, or hands frames over to be played: all that were lent. False where
  /// the device failed.
  mutating func commit(_ frames: Int) -> Bool

  /// Gives up a stream that is lost. When it is found again an output starts with this many frames
  /// of silence.
  mutating func detach(silence frames: Int)

  /// Takes it back, if it was found and runs again: the frames of silence it began with; nil where
  /// it is still away.
  mutating func reattach(at now: UInt64) -> Int?

  /// Starts it anew, an output with `frames` frames of silence. Throws where it does not start or
  /// went away.
  mutating func start(silence frames: Int, at now: UInt64) throws(DeviceFailure)

  /// From now on a stream that is lost can be detached: it is looked for beside the audio thread,
  /// and what is found is written to `news`. False where that cannot be.
  mutating func enableReconnection(telling news: MutexBox<DeviceReturn?>) -> Bool

  /// Stops it at once.
  mutating func stop()
}

/// A stream as a bridge drives it: any driver, behind its function.
public struct DeviceStream: ~Copyable, @unchecked Sendable {
  // @unchecked because the driver's type, which is only asked for its functions, is not Sendable.
  /// What it granted.
  public let configuration: StreamConfiguration
  private let owner: DriverOwner
  private let type: any (StreamDriver & ~Copyable).Type

  /// The stream that `driver` drives.
  public init<Driver: StreamDriver & ~Copyable>(_ driver: consuming Driver) {
    configuration = driver.configuration
    type = Driver.self
    owner = DriverOwner(driver, Driver.function)
  }

  /// Starts it anew. Throws what its driver throws.
  public mutating func start(silence frames: Int, at now: UInt64) throws(DeviceFailure) {
    try type.start(owner.memory, silence: frames, at: now)
  }

  /// Asks it where it is.
  @_noLocks
  public mutating func readState(at now: UInt64) -> StreamState {
    owner.perform(StreamCall.readState(at: now), answer: .lost)
  }

  /// The next captured frames, or room for the next to play, at most its period.
  @_noLocks
  public mutating func frames(_ frames: Int, at now: UInt64) -> DeviceFrames? {
    owner.perform(StreamCall.frames(frames, at: now), answer: nil)
  }

  /// Gives captured frames back, or hands frames over. False where the device failed.
  @_noLocks
  public mutating func commit(_ frames: Int) -> Bool {
    owner.perform(StreamCall.commit(frames), answer: false)
  }

  /// Gives up a stream that is lost.
  @_noLocks
  public mutating func detach(silence frames: Int = 0) {
    owner.perform(StreamCall.detach(silence: frames), storing: owner.memory)
  }

  /// Takes it back where it was found and runs: the frames of silence it began with.
  @_noLocks
  public mutating func reattach(at now: UInt64) -> Int? {
    owner.perform(StreamCall.reattach(at: now), answer: nil)
  }

  /// A stream that is lost can be detached from now on; false where it cannot.
  public mutating func enableReconnection(telling news: MutexBox<DeviceReturn?>) -> Bool {
    type.enableReconnection(owner.memory, telling: news)
  }

  /// Stops it at once.
  public mutating func stop() { type.stop(owner.memory) }
}

/// The calls of a stream's driver outside of cycles: starting, enabling reconnects, stopping.
/// Reached by its type, not by its `DriverFunction`.
extension StreamDriver where Self: ~Copyable {
  private static func found(_ memory: DriverMemory) -> UnsafeMutablePointer<Self> {
    memory.assumingMemoryBound(to: Self.self)
  }
  fileprivate static func start(
    _ memory: DriverMemory, silence frames: Int, at now: UInt64
  ) throws(DeviceFailure) {
    try found(memory).pointee.start(silence: frames, at: now)
  }
  fileprivate static func enableReconnection(
    _ memory: DriverMemory, telling news: MutexBox<DeviceReturn?>
  ) -> Bool {
    found(memory).pointee.enableReconnection(telling: news)
  }
  fileprivate static func stop(_ memory: DriverMemory) { found(memory).pointee.stop() }
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

  /// Sleeps until then, the thread is interrupted, or a tenth of a second passed; virtual time
  /// jumps there.
  @_noLocks
  public mutating func sleep(until nanoseconds: UInt64) {
    if isVirtual {
      time = max(time, nanoseconds)
    } else {
      HostClock.sleep(until: min(nanoseconds, now &+ 100_000_000))
    }
  }
}
