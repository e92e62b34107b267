/// One thing that was looked at: what was found, in a sentence, and what to do about it, in another.
public struct Finding: Sendable, Equatable {
  /// How much it matters.
  public enum Weight: String, Sendable, CaseIterable {
    /// Low latency, or any sound, is impossible as it is.
    case problem
    /// Dropouts are likelier, or the latency is higher, than they need be.
    case warning
    /// Worth knowing.
    case notice
    /// All is well.
    case fine
  }

  /// How much it matters.
  public var weight: Weight
  /// What was looked at, for scripts.
  public var code: String
  /// What was found.
  public var message: String
  /// What to do; empty where nothing is to be done.
  public var remedy: String

  init(_ weight: Weight, _ code: String, _ message: String, remedy: String = "") {
    self.weight = weight
    self.code = code
    self.message = message
    self.remedy = remedy
  }
}
