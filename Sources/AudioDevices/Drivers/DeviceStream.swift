// Audio thread.
import AudioBasics
import AudioClocks
import RealtimeAudio

/// The state of a device with its own clock: running, stopped by an xrun, suspended or lost.
public enum StreamState: BitwiseCopyable, Sendable {
  /// The stream runs. The reading contains the number of frames captured or played since the start
  /// and the time of that count; `available` frames can be read or written now.
  case running(ClockReading, available: Int)
  /// The stream overran, or ran dry, and has stopped.
  case xrun
  /// The machine was suspended.
  case suspended
  /// The stream is gone.
  case lost
}

/// One direction of a device with its own clock.
///
/// A `DeviceStream` is created from it. One thread drives it and never waits for it, because the
/// bridge that drives it uses another clock. Times are always the driver's, in nanoseconds: the
/// host's monotonic clock, or virtual time.
public protocol StreamDriver: ~Copyable {
  /// A function with `@_noLocks` that calls `perform` for this type.
  static var function: DriverFunction { get }

  /// The configuration that was granted.
  var configuration: StreamConfiguration { get }

  /// Returns the state of the stream at a time.
  mutating func readState(at now: UInt64) -> StreamState

  /// Lends the next captured frames, or room for the next frames to play, at most a period. Returns
  /// nil if there are none.
  mutating func frames(_ frames: Int, at now: UInt64) -> DeviceFrames?

  /// Releases captured frames, or hands frames over to be played: all that were lent. Returns false
  /// if the device failed.
  mutating func commit(_ frames: Int) -> Bool

  /// Detaches a stream that is lost. When it is found again, an output starts with this many frames
  /// of silence.
  mutating func detach(silence frames: Int)

  /// Reattaches the stream if it was found and runs again. Returns the number of frames of silence
  /// that it started with; nil if it is still away.
  mutating func reattach(at now: UInt64) -> Int?

  /// Starts the stream again; an output starts with `frames` frames of silence. Throws if it does
  /// not start or went away.
  mutating func start(silence frames: Int, at now: UInt64) throws(DeviceFailure)

  /// Enables `detach` for a stream that is lost: another thread than the audio thread searches for
  /// it, and writes the results to `news`. Returns false if that is not possible.
  mutating func enableReconnection(reportingTo news: MutexBox<DeviceReturn?>) -> Bool

  /// Makes the search for a lost stream end, and does not wait for it: all searches end together
  /// before the streams are stopped. Nothing by default.
  mutating func endReconnection()

  /// Stops the stream at once.
  mutating func stop()
}

extension StreamDriver where Self: ~Copyable {
  /// Does nothing.
  public mutating func endReconnection() {}
}

/// A stream as a bridge drives it: any driver, called through its function.
public struct DeviceStream: ~Copyable, @unchecked Sendable {
  // @unchecked because the driver's type, of which only functions are used, is not Sendable.
  /// The configuration that was granted.
  public let configuration: StreamConfiguration
  private let owner: DriverOwner
  private let type: any (StreamDriver & ~Copyable).Type

  /// Creates the stream that `driver` drives.
  public init<Driver: StreamDriver & ~Copyable>(_ driver: consuming Driver) {
    configuration = driver.configuration
    type = Driver.self
    owner = DriverOwner(driver, Driver.function)
  }

  /// Starts the stream again. Throws what its driver throws.
  public mutating func start(silence frames: Int, at now: UInt64) throws(DeviceFailure) {
    try type.start(owner.memory, silence: frames, at: now)
  }

  /// Returns the state of the stream at a time.
  @_noLocks
  public mutating func readState(at now: UInt64) -> StreamState {
    owner.perform(StreamCall.readState(at: now), answer: .lost)
  }

  /// Lends the next captured frames, or room for the next frames to play, at most a period. Returns
  /// nil if there are none.
  @_noLocks
  public mutating func frames(_ frames: Int, at now: UInt64) -> DeviceFrames? {
    owner.perform(StreamCall.frames(frames, at: now), answer: nil)
  }

  /// Releases captured frames, or hands frames over. Returns false if the device failed.
  @_noLocks
  public mutating func commit(_ frames: Int) -> Bool {
    owner.perform(StreamCall.commit(frames), answer: false)
  }

  /// Detaches a stream that is lost.
  @_noLocks
  public mutating func detach(silence frames: Int = 0) {
    owner.perform(StreamCall.detach(silence: frames), storing: owner.memory)
  }

  /// Reattaches the stream if it was found and runs. Returns the number of frames of silence that
  /// it started with; nil if it is still away.
  @_noLocks
  public mutating func reattach(at now: UInt64) -> Int? {
    owner.perform(StreamCall.reattach(at: now), answer: nil)
  }

  /// Enables `detach` for a stream that is lost. Returns false if that is not possible.
  public mutating func enableReconnection(reportingTo news: MutexBox<DeviceReturn?>) -> Bool {
    type.enableReconnection(owner.memory, reportingTo: news)
  }

  /// Makes the search for a lost stream end, and does not wait for it.
  public mutating func endReconnection() { type.endReconnection(owner.memory) }

  /// Stops the stream at once.
  public mutating func stop() { type.stop(owner.memory) }
}

/// The calls of a stream's driver outside of cycles: starting, enabling reconnection, stopping.
/// They are made through its type, not through its `DriverFunction`.
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
    _ memory: DriverMemory, reportingTo news: MutexBox<DeviceReturn?>
  ) -> Bool {
    found(memory).pointee.enableReconnection(reportingTo: news)
  }
  fileprivate static func endReconnection(_ memory: DriverMemory) {
    found(memory).pointee.endReconnection()
  }
  fileprivate static func stop(_ memory: DriverMemory) { found(memory).pointee.stop() }
}

/// The clock by which two devices are driven: the host's, or virtual time that jumps.
public struct DeviceTime: BitwiseCopyable, Sendable {
  private let isVirtual: Bool
  private var time: UInt64 = 0

  /// Creates a time that is the host's monotonic clock, or virtual time from 0 on.
  public init(isVirtual: Bool = false) { self.isVirtual = isVirtual }

  /// The current time in nanoseconds.
  public var now: UInt64 {
    @_noLocks get { isVirtual ? time : HostClock.nanoseconds }
  }

  /// Sleeps until that time, until the thread is interrupted, or for 100 ms. Virtual time jumps to
  /// that time.
  @_noLocks
  public mutating func sleep(until nanoseconds: UInt64) {
    if isVirtual {
      time = max(time, nanoseconds)
    } else {
      HostClock.sleep(until: min(nanoseconds, now &+ 100_000_000))
    }
  }
}
