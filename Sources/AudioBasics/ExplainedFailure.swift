/// An error that explains in one sentence what is wrong. That sentence is its description.
///
/// Print the error itself, or its `message` and `hint`: the `localizedDescription` that Foundation
/// gives to every error does not contain them.
///
/// ```swift
/// do throws(FileFailure) {
///   _ = try SoundFileReader(path: "nowhere.wav")
/// } catch {
///   precondition("\(error)" == error.message)
///   print(error.message, error.hint)  // There is no file nowhere.wav. Check ...
/// }
/// ```
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
