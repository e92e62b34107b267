import AudioDevices

/// The callbacks of a session, which are also notified of its end. They run on the audio thread.
public protocol SessionCallbacks: DuplexCallbacks, ~Copyable {
  /// Notifies waiting threads that no more data follows. Called after the last cycle, not on the
  /// audio thread.
  mutating func finish()

  /// Throws the reason for which the callbacks do not fit a unit with this configuration, before
  /// the unit starts.
  borrowing func check(_ configuration: DuplexConfiguration) throws(DeviceFailure)

  /// The number of frames by which the callbacks delay what they play, in addition to the unit.
  /// Read before the unit starts.
  var outputDelayFrames: Int { get }
}

extension SessionCallbacks where Self: ~Copyable {
  /// Does nothing.
  public mutating func finish() {}

  /// Accepts every configuration. Throws nothing.
  public borrowing func check(_ configuration: DuplexConfiguration) throws(DeviceFailure) {}

  /// Default: 0.
  public var outputDelayFrames: Int { 0 }
}

/// Closures have the default of each requirement.
extension DuplexClosures: SessionCallbacks {}
