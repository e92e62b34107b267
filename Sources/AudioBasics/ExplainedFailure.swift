/// An error that explains in one sentence what is wrong. That sentence is its description.
public protocol ExplainedFailure: Error, CustomStringConvertible {
  /// One sentence that explains what is wrong.
  var message: String { get }
  /// One sentence that explains what to do.
  var hint: String { get }
}

extension ExplainedFailure {
  /// The message.
  public var description: String { message }
}
