// Audio thread.
import CRealtime
import RealtimeAudio

/// A device as a unit drives it: any driver, behind its function.
///
/// One thread drives it. What it is asked in a cycle is free of locks and allocation as far as the
/// driver's own functions are; see `DuplexDriver` for what each does.
public struct DuplexDevice: ~Copyable, @unchecked Sendable {
  // @unchecked because the driver has one owner, which moves with the value.
  private let function: DriverFunction
  private let memory: UnsafeMutableRawPointer
  private let control: Unmanaged<DriverControl>

  /// The device that `driver` drives.
  public init<Driver: DuplexDriver & ~Copyable>(_ driver: consuming Driver) {
    let box = DriverBox(driver)
    function = Driver.function
    memory = UnsafeMutableRawPointer(box.driver.pointer)
    control = .passRetained(box)
  }

  deinit { control.release() }

  /// What was granted. Fixed from the start.
  public var configuration: DuplexConfiguration { reached.configuration }

  private var reached: DriverControl { control.takeUnretainedValue() }

  @_noLocks
  private func ask(_ call: DuplexCall, _ answer: DriverMemory) {
    var call = call
    realtime_call(function, memory, &call, answer)
  }

  /// The device's clock now, in nanoseconds: the host's, or virtual time.
  public var now: UInt64 {
    @_noLocks get {
      var now: UInt64 = 0
      ask(.now, &now)
      return now
    }
  }

  /// Sleeps until the next period is there, or that long, or until the thread is interrupted.
  @_noLocks
  public mutating func wait(
    noLongerThan nanoseconds: UInt64 = .max, _ status: inout DeviceStatus
  ) {
    ask(.wait(noLongerThan: nanoseconds), &status)
  }

  /// The next captured frames, at most a period; nil where the device has failed.
  @_noLocks
  public mutating func capturedFrames(_ frames: Int) -> DeviceFrames? {
    var lent: DeviceFrames?
    ask(.capturedFrames(frames), &lent)
    return lent
  }

  /// Gives the oldest captured frames back.
  @_noLocks
  public mutating func release(_ frames: Int) { ask(.release(frames), memory) }

  /// Room for the next frames to play, at most a period; nil where there is none.
  @_noLocks
  public mutating func playbackRoom(_ frames: Int) -> DeviceFrames? {
    var lent: DeviceFrames?
    ask(.playbackRoom(frames), &lent)
    return lent
  }

  /// Hands frames of that room over to be played.
  @_noLocks
  public mutating func commit(_ frames: Int) { ask(.commit(frames), memory) }

  /// The oldest event that was not told yet.
  @_noLocks
  public mutating func takeEvent() -> DeviceEvent? {
    var event: DeviceEvent?
    ask(.takeEvent, &event)
    return event
  }

  /// How the secondary output of that number does; nil where there is none.
  @_noLocks
  public func secondaryReading(_ index: Int) -> SecondaryOutputReading? {
    var reading: SecondaryOutputReading?
    ask(.secondaryReading(index), &reading)
    return reading
  }

  /// Gets both directions going together.
  public mutating func start() throws(DeviceFailure) { try reached.start() }

  /// Starts both directions again after an xrun or a suspension.
  public mutating func recover() throws(DeviceFailure) { try reached.recover() }

  /// Stops both directions, with `draining` when what is queued has been heard.
  public mutating func stop(draining: Bool) { reached.stop(draining: draining) }

  /// The device outlives its loss from now on.
  public mutating func enableReconnection(telling news: MutexBox<DeviceReturn?>) {
    reached.enableReconnection(telling: news)
  }

  /// Closes a device that is lost.
  public mutating func close() { reached.close() }

  /// Waits for the device for a tenth of a second, then looks for it.
  public mutating func pollForReconnection() -> DeviceReturn { reached.pollForReconnection() }
}

/// What is asked of a driver while no sound moves.
private class DriverControl {
  let configuration: DuplexConfiguration
  init(_ configuration: DuplexConfiguration) { self.configuration = configuration }
  func start() throws(DeviceFailure) {}
  func recover() throws(DeviceFailure) {}
  func stop(draining: Bool) {}
  func enableReconnection(telling news: MutexBox<DeviceReturn?>) {}
  func close() {}
  func pollForReconnection() -> DeviceReturn { .absent }
}

/// The same for a driver of one type, which it owns.
private final class DriverBox<Driver: DuplexDriver & ~Copyable>: DriverControl {
  let driver: SharedState<Driver>

  init(_ driver: consuming Driver) {
    let configuration = driver.configuration
    self.driver = SharedState(driver)
    super.init(configuration)
  }

  override func start() throws(DeviceFailure) { try driver.pointer.pointee.start() }
  override func recover() throws(DeviceFailure) { try driver.pointer.pointee.recover() }
  override func stop(draining: Bool) { driver.pointer.pointee.stop(draining: draining) }
  override func enableReconnection(telling news: MutexBox<DeviceReturn?>) {
    driver.pointer.pointee.enableReconnection(telling: news)
  }
  override func close() { driver.pointer.pointee.close() }
  override func pollForReconnection() -> DeviceReturn {
    driver.pointer.pointee.pollForReconnection()
  }
}
