// Audio thread.
import CRealtime

/// The function through which the audio thread calls a driver or stream whose type it does not
/// know. It receives the addresses of the driver, of a `DuplexCall` or `StreamCall`, and of the
/// memory for the answer, and calls `perform`:
///
///     @_noLocks
///     private func callMyDriver(_ driver: DriverMemory, call: DriverCall, answer: DriverMemory) {
///       perform(call, on: driver.assumingMemoryBound(to: MyDriver.self), storing: answer)
///     }
///
/// Each driver defines the function itself. Swift 6.3.1 calls code of an unknown type without a
/// lock only through a C function, creates none from a generic function, and rejects the mark on
/// generic functions and closures. However, if a marked function calls a generic one for a concrete
/// type, the compiler proves that one, and therefore all code of the driver, marked or not.
public typealias DriverFunction = @convention(c) (DriverMemory, DriverCall, DriverMemory) -> Void

/// The address of a driver, or of an answer.
public typealias DriverMemory = UnsafeMutableRawPointer

/// The address of a `DuplexCall` or `StreamCall`.
public typealias DriverCall = UnsafeRawPointer

/// The calls of a `DuplexDevice` to its driver on the audio thread, named after the requirements.
public enum DuplexCall: BitwiseCopyable {
  /// `DuplexDriver.now`.
  case now
  /// `DuplexDriver.wait(noLongerThan:_:)`, in nanoseconds.
  case wait(noLongerThan: UInt64)
  /// `DuplexDriver.capturedFrames(_:)`, with a number of frames.
  case capturedFrames(Int)
  /// `DuplexDriver.release(_:)`, with a number of frames.
  case release(Int)
  /// `DuplexDriver.playbackRoom(_:)`, with a number of frames.
  case playbackRoom(Int)
  /// `DuplexDriver.commit(_:)`, with a number of frames.
  case commit(Int)
  /// `DuplexDriver.takeEvent()`.
  case takeEvent
  /// `DuplexDriver.secondaryReading(_:)`, with the index of a secondary output.
  case secondaryReading(Int)
}

/// The calls of a `DeviceStream` to its driver on the audio thread.
public enum StreamCall: BitwiseCopyable {
  /// `StreamDriver.readState(at:)`, at a time in nanoseconds.
  case readState(at: UInt64)
  /// `StreamDriver.frames(_:at:)`, with a number of frames and a time in nanoseconds.
  case frames(Int, at: UInt64)
  /// `StreamDriver.commit(_:)`, with a number of frames.
  case commit(Int)
  /// `StreamDriver.detach(silence:)`, with a number of frames.
  case detach(silence: Int)
  /// `StreamDriver.reattach(at:)`, at a time in nanoseconds.
  case reattach(at: UInt64)
}

/// The memory of a driver, and the function through which the audio thread calls it.
///
/// Public because Swift 6.3.1 ends in an assertion if setters that are visible to other modules
/// destroy a value whose `deinit` is not.
public struct DriverOwner: ~Copyable, @unchecked Sendable {
  // @unchecked because the driver has one owner, which moves with the value.
  let memory: DriverMemory
  private let function: DriverFunction
  private let destroy: (DriverMemory) -> Void

  init<Driver: ~Copyable>(_ driver: consuming Driver, _ function: DriverFunction) {
    let driverPointer = UnsafeMutablePointer<Driver>.allocate(capacity: 1)
    driverPointer.initialize(to: driver)
    memory = DriverMemory(driverPointer)
    self.function = function
    destroy = { memory in
      memory.assumingMemoryBound(to: Driver.self).deinitialize(count: 1)
      memory.deallocate()
    }
  }

  deinit { destroy(memory) }

  /// Calls the driver with `call`. The driver stores its answer at `answer`.
  func perform<Call: BitwiseCopyable>(_ call: Call, storing answer: DriverMemory) {
    var call = call
    realtime_call(function, memory, &call, answer)
  }

  /// Calls the driver with `call` and returns its answer, which replaces `initial`.
  func perform<Call: BitwiseCopyable, Answer: BitwiseCopyable>(
    _ call: Call, answer initial: Answer
  ) -> Answer {
    var answer = initial
    perform(call, storing: &answer)
    return answer
  }
}

/// Performs `call` on a driver, and stores its answer.
@inlinable @inline(__always)
public func perform<Driver: DuplexDriver & ~Copyable>(
  _ call: DriverCall, on driver: UnsafeMutablePointer<Driver>, storing answer: DriverMemory
) {
  switch call.assumingMemoryBound(to: DuplexCall.self).pointee {
  case .now: answer.assumingMemoryBound(to: UInt64.self).pointee = driver.pointee.now
  case .wait(let nanoseconds):
    driver.pointee.wait(
      noLongerThan: nanoseconds, &answer.assumingMemoryBound(to: DeviceStatus.self).pointee)
  case .capturedFrames(let frames):
    answer.assumingMemoryBound(to: DeviceFrames?.self).pointee =
      driver.pointee.capturedFrames(frames)
  case .release(let frames): driver.pointee.release(frames)
  case .playbackRoom(let frames):
    answer.assumingMemoryBound(to: DeviceFrames?.self).pointee =
      driver.pointee.playbackRoom(frames)
  case .commit(let frames): driver.pointee.commit(frames)
  case .takeEvent:
    answer.assumingMemoryBound(to: DeviceEvent?.self).pointee = driver.pointee.takeEvent()
  case .secondaryReading(let index):
    answer.assumingMemoryBound(to: SecondaryOutputReading?.self).pointee =
      driver.pointee.secondaryReading(index)
  }
}

/// Performs `call` on a stream's driver, and stores its answer.
@inlinable @inline(__always)
public func perform<Driver: StreamDriver & ~Copyable>(
  _ call: DriverCall, on driver: UnsafeMutablePointer<Driver>, storing answer: DriverMemory
) {
  switch call.assumingMemoryBound(to: StreamCall.self).pointee {
  case .readState(let now):
    answer.assumingMemoryBound(to: StreamState.self).pointee = driver.pointee.readState(at: now)
  case .frames(let frames, let now):
    answer.assumingMemoryBound(to: DeviceFrames?.self).pointee =
      driver.pointee.frames(frames, at: now)
  case .commit(let frames):
    answer.assumingMemoryBound(to: Bool.self).pointee = driver.pointee.commit(frames)
  case .detach(let silence): driver.pointee.detach(silence: silence)
  case .reattach(let now):
    answer.assumingMemoryBound(to: Int?.self).pointee = driver.pointee.reattach(at: now)
  }
}
