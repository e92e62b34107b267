import RealtimeAudio

/// The pace of a session: the device's clock, or the maximum speed of the machine.
public enum SessionClock: Sendable {
  /// The device's clock, on an audio thread of this priority; disk work runs on separate threads.
  case real(ThreadPriority)
  /// The maximum speed of the machine, with all work on the calling thread in a reproducible order:
  /// for virtual time, and for devices that keep no time.
  case virtual

  /// Whether the session does not wait for a clock.
  public var isVirtual: Bool { if case .virtual = self { true } else { false } }
}
