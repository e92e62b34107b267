// Audio thread.
import RealtimeAudio

/// A device as a unit drives it: any driver, called through its function.
///
/// One thread drives it. The calls of a cycle are free of locks and allocation if the driver's
/// functions are. See `DuplexDriver` for the details of each call.
public struct DuplexDevice: ~Copyable, @unchecked Sendable {
  // @unchecked because the driver's type, of which only functions are used, is not Sendable.
  /// The configuration that was granted. It does not change.
  public let configuration: DuplexConfiguration
  private let owner: DriverOwner
  private let type: any (DuplexDriver & ~Copyable).Type

  /// Creates the device that `driver` drives.
  public init<Driver: DuplexDriver & ~Copyable>(_ driver: consuming Driver) {
    configuration = driver.configuration
    type = Driver.self
    owner = DriverOwner(driver, Driver.function)
  }

  /// The current time of the device's clock, in nanoseconds: the host's, or virtual time.
  public var now: UInt64 {
    @_noLocks get { owner.perform(DuplexCall.now, answer: 0) }
  }

  /// Sleeps until the next period is available, for at most that time, or until the thread is
  /// interrupted.
  @_noLocks
  public mutating func wait(
    noLongerThan nanoseconds: UInt64 = .max, _ status: inout DeviceStatus
  ) {
    owner.perform(DuplexCall.wait(noLongerThan: nanoseconds), storing: &status)
  }

  /// Lends the next captured frames, at most a period. Returns nil if the device has failed.
  @_noLocks
  public mutating func capturedFrames(_ frames: Int) -> DeviceFrames? {
    owner.perform(DuplexCall.capturedFrames(frames), answer: nil)
  }

  /// Releases the oldest captured frames.
  @_noLocks
  public mutating func release(_ frames: Int) {
    owner.perform(DuplexCall.release(frames), storing: owner.memory)
  }

  /// Lends room for the next frames to play, at most a period. Returns nil if there is none.
  @_noLocks
  public mutating func playbackRoom(_ frames: Int) -> DeviceFrames? {
    owner.perform(DuplexCall.playbackRoom(frames), answer: nil)
  }

  /// Hands frames of that room over to be played.
  @_noLocks
  public mutating func commit(_ frames: Int) {
    owner.perform(DuplexCall.commit(frames), storing: owner.memory)
  }

  /// Returns the oldest event that was not reported yet; nil if there is none.
  @_noLocks
  public mutating func takeEvent() -> DeviceEvent? {
    owner.perform(DuplexCall.takeEvent, answer: nil)
  }

  /// Returns the drift and xruns of the secondary output with that index; nil if there is none.
  @_noLocks
  public func secondaryReading(_ index: Int) -> SecondaryOutputReading? {
    owner.perform(DuplexCall.secondaryReading(index), answer: nil)
  }

  /// Starts both directions together. Throws what its driver throws.
  public mutating func start() throws(DeviceFailure) { try type.start(owner.memory) }

  /// Starts both directions again after an xrun or a suspension. Throws what its driver throws.
  public mutating func recover() throws(DeviceFailure) { try type.recover(owner.memory) }

  /// Stops both directions. With `draining`, the queued frames are played first.
  public mutating func stop(draining: Bool) { type.stop(owner.memory, draining: draining) }

  /// Makes the device survive its loss from now on.
  public mutating func enableReconnection(reportingTo news: MutexBox<DeviceReturn?>) {
    type.enableReconnection(owner.memory, reportingTo: news)
  }

  /// Closes a device that is lost.
  public mutating func close() { type.close(owner.memory) }

  /// Waits for the device for 100 ms, then checks whether it is back.
  public mutating func pollForReconnection() -> DeviceReturn {
    type.pollForReconnection(owner.memory)
  }
}

/// The calls of a driver outside of cycles: starting, recovering, stopping, closing, reconnecting.
/// They are made through its type, not through its `DriverFunction`.
extension DuplexDriver where Self: ~Copyable {
  private static func found(_ memory: DriverMemory) -> UnsafeMutablePointer<Self> {
    memory.assumingMemoryBound(to: Self.self)
  }
  fileprivate static func start(_ memory: DriverMemory) throws(DeviceFailure) {
    try found(memory).pointee.start()
  }
  fileprivate static func recover(_ memory: DriverMemory) throws(DeviceFailure) {
    try found(memory).pointee.recover()
  }
  fileprivate static func stop(_ memory: DriverMemory, draining: Bool) {
    found(memory).pointee.stop(draining: draining)
  }
  fileprivate static func enableReconnection(
    _ memory: DriverMemory, reportingTo news: MutexBox<DeviceReturn?>
  ) {
    found(memory).pointee.enableReconnection(reportingTo: news)
  }
  fileprivate static func close(_ memory: DriverMemory) { found(memory).pointee.close() }
  fileprivate static func pollForReconnection(_ memory: DriverMemory) -> DeviceReturn {
    found(memory).pointee.pollForReconnection()
  }
}
