/// One thing that was looked at: what was found, in a sentence, and what to do about it, in
/// another.
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

extension Machine {
  /// Everything that was found, worst first. `configuration` is what keeps ALSA from reading its
  /// configuration, and what to do; `wakeUps` is asked for when all else was looked at, and nil
  /// where the sample did not come to an end.
  public func findings(
    configuration: (message: String, remedy: String)? = nil,
    wakeUps: @autoclosure () -> WakeUpSample?
  ) -> [Finding] {
    let unreadable = configuration.map {
      Finding(.problem, "alsaConfiguration", $0.message, remedy: $0.remedy)
    }
    let found =
      [unreadable].compactMap(\.self) + CardChecks(self).findings + USBChecks(self).findings
      + ServerChecks(self).findings
      + KernelChecks(self).findings + PowerChecks(self).findings
      + PriorityChecks(self, wakeUps()).findings
    return Finding.Weight.allCases.flatMap { weight in found.filter { $0.weight == weight } }
  }
}

/// A short time, for sentences: `21.33 ms`.
struct Milliseconds: CustomStringConvertible {
  let value: Double

  init(_ value: Double) { self.value = value }

  var description: String {
    let text = "\((value * 100).rounded() / 100)"
    return (text.hasSuffix(".0") ? String(text.dropLast(2)) : text) + " ms"
  }
}
