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

/// Callbacks as two closures, for examples and quick experiments. Either may be absent.
///
/// The compiler cannot prove a stored closure realtime-safe: for anything people rely on, write a
/// type that conforms to `DuplexCallbacks` and mark its methods `@_noLocks`.
public struct DuplexClosures: DuplexCallbacks, ~Copyable {
  private let onInput: ((borrowing InputCycle) -> Void)?
  private let onOutput: ((inout OutputCycle) -> Void)?

  /// Callbacks that run `input` and then `output`, once a cycle each, on the audio thread.
  public init(
    input: ((borrowing InputCycle) -> Void)? = nil, output: ((inout OutputCycle) -> Void)? = nil
  ) {
    onInput = input
    onOutput = output
  }

  /// Takes what the microphone delivered.
  public mutating func input(_ input: borrowing InputCycle) {
    onInput?(input)
  }

  /// Fills what the output plays next.
  public mutating func output(_ output: inout OutputCycle) {
    onOutput?(&output)
  }
}
