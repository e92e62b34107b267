/// What happens to the sound: called by a duplex unit on the audio thread, once a cycle each.
///
/// Both run under the rules of the audio thread: no allocation, lock, file, terminal or reference
/// count. Mark your methods `@_noLocks` and the compiler checks it. A unit without input calls
/// only `output`, one without output only `input`.
public protocol DuplexCallbacks: ~Copyable {
  /// Takes the frames the microphone delivered: `input.render(into:)` fills a buffer you own.
  mutating func input(_ input: borrowing InputCycle)

  /// Fills what the output plays next: right after `input`, with the same number of frames.
  mutating func output(_ output: inout OutputCycle)
}

extension DuplexCallbacks where Self: ~Copyable {
  /// Lets the microphone's frames go.
  public mutating func input(_ input: borrowing InputCycle) {}

  /// Plays silence.
  public mutating func output(_ output: inout OutputCycle) {}
}
