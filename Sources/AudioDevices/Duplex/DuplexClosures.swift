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
