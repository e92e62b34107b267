/// An input of libFuzzer: bytes that are, as a whole, a file or a text, so that files of other
/// programs can be seeds. The last bytes also determine the operations.
struct FuzzInput {
  let bytes: [UInt8]
  private var choices: Int

  init(_ bytes: UnsafeBufferPointer<UInt8>) {
    self.bytes = Array(bytes)
    choices = bytes.count
  }

  var text: String { String(decoding: bytes, as: UTF8.self) }

  /// Returns the next choice, from the end of the input towards its start; 0 if no choice is left.
  mutating func choose() -> UInt8 {
    guard choices > 0 else { return 0 }
    choices -= 1
    return bytes[choices]
  }

  /// Returns one of `values`.
  mutating func choose<Value>(from values: [Value]) -> Value {
    values[Int(choose()) % values.count]
  }

  /// Returns a non-negative number: near one of `values`, or any number.
  mutating func number(from values: [Int]) -> Int {
    let kind = Int(choose())
    if kind < 128 {
      let value = values[kind % values.count]
      return kind < 64 ? value : max(0, value.addingReportingOverflow(kind - 96).partialValue)
    }
    var number = 0
    for _ in 0..<kind % 9 { number = number << 8 | Int(choose()) }
    return number & .max
  }
}

/// A function that reads untrusted input. It may refuse the input, but must not fail in any other
/// way.
struct FuzzTarget: Sendable {
  let name: String
  /// The maximum length of an input in bytes.
  let maximumLength: Int
  let run: @Sendable (inout FuzzInput) -> Void

  init(_ name: String, maximumLength: Int, _ run: @escaping @Sendable (inout FuzzInput) -> Void) {
    self.name = name
    self.maximumLength = maximumLength
    self.run = run
  }

  static let all: [FuzzTarget] = [
    sound, mpeg, ogg, track, repair, playlist, response, server, settings, options,
    configuration, text,
  ]
}

/// Ends the process, which libFuzzer reports as a finding.
func finding(_ sentence: String) -> Never {
  fatalError(sentence)
}
