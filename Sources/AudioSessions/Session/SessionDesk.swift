import AudioDevices

/// What happens to the sound of a session: callbacks that are told when it is over.
public protocol SessionDesk: DuplexCallbacks, ~Copyable {
  /// Says so to whoever waits for more, off the audio thread. After the last cycle.
  mutating func finish()
}
