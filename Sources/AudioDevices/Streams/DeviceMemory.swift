// Audio thread.
import AudioBasics

/// The address of a driver or stream, as its functions get it.
public typealias DeviceMemory = UnsafeMutableRawPointer

extension DeviceMemory {
  /// The driver of this type that lies there.
  public func driver<Driver: ~Copyable>(_ type: Driver.Type) -> UnsafeMutablePointer<Driver> {
    assumingMemoryBound(to: type)
  }

  /// A status to be filled.
  public var status: UnsafeMutablePointer<DeviceStatus> {
    @_noLocks get { assumingMemoryBound(to: DeviceStatus.self) }
  }
  /// Where lent frames are stored.
  public var frames: UnsafeMutablePointer<DeviceFrames?> {
    @_noLocks get { assumingMemoryBound(to: DeviceFrames?.self) }
  }
  /// Where an event is stored.
  public var event: UnsafeMutablePointer<DeviceEvent?> {
    @_noLocks get { assumingMemoryBound(to: DeviceEvent?.self) }
  }
  /// Where the reading of a secondary output is stored.
  public var secondary: UnsafeMutablePointer<SecondaryOutputReading?> {
    @_noLocks get { assumingMemoryBound(to: SecondaryOutputReading?.self) }
  }
  /// Where a stream's state is stored.
  public var state: UnsafeMutablePointer<StreamState> {
    @_noLocks get { assumingMemoryBound(to: StreamState.self) }
  }
}
