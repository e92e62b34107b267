import AudioDevices

/// The reason why a session ended.
public enum StopReason: Sendable {
  /// The requested time is over.
  case duration
  /// The end of the played material was reached.
  case end
  /// A signal was received, or the user pressed a key.
  case signal, key
  /// A call requested it, such as `stop` of an engine.
  case request
  /// The device went away or failed.
  case device(DeviceFailure)
  /// A file could not be written any further.
  case disk
  /// The microphone was silent for the given time.
  case silence

  /// Whether the user, or the program on behalf of the user, requested it.
  public var isUserRequest: Bool {
    switch self {
    case .signal, .key, .request: true
    case .duration, .end, .device, .disk, .silence: false
    }
  }
}
