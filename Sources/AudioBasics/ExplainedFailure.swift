/// An error that says in one sentence what is wrong, and is described by it.
public protocol ExplainedFailure: Error, CustomStringConvertible {
  /// One sentence that says what is wrong.
  var message: String { get }
  /// One sentence that says what to do.
  var hint: String { get }
}

extension ExplainedFailure {
  /// The message.
  public var description: String { message }
}
