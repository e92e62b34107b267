import RealtimeAudio

/// The result of one check: one sentence that describes it, and one that explains what to do.
public struct Finding: Sendable, Equatable {
  /// The severity of a finding.
  public enum Severity: String, Sendable, CaseIterable {
    /// Low latency, or any audio, is impossible in this state.
    case problem
    /// Dropouts are more likely, or the latency is higher, than necessary.
    case warning
    /// Useful information.
    case notice
    /// No problem was found.
    case fine
  }

  /// The severity.
  public var severity: Severity
  /// An identifier of the finding, for scripts.
  public var code: String
  /// One sentence that describes the result.
  public var message: String
  /// One sentence that explains what to do; empty if nothing needs to be done.
  public var remedy: String

  init(_ severity: Severity, _ code: String, _ message: String, remedy: String = "") {
    self.severity = severity
    self.code = code
    self.message = message
    self.remedy = remedy
  }
}

extension Machine {
  /// Returns all findings, the most severe first. `configuration` describes why ALSA cannot read
  /// its configuration, and what to do; nil if it can. `defaultServer` is the plugin of the sound
  /// server that ALSA's default device uses; nil if it uses none. `wakeUps` is evaluated after all
  /// other checks; it is nil if the measurement did not finish, and throws if the measured thread
  /// cannot be created.
  public func findings(
    configuration: (message: String, remedy: String)? = nil, defaultServer: String? = nil,
    wakeUps: @autoclosure () throws(ThreadFailure) -> WakeUpSample?
  ) -> [Finding] {
    let unreadable = configuration.map {
      Finding(.problem, "alsaConfiguration", $0.message, remedy: $0.remedy)
    }
    let found =
      [unreadable].compactMap(\.self) + CardChecks(self).findings + USBChecks(self).findings
      + ServerChecks(self, defaultServer: defaultServer).findings
      + KernelChecks(self).findings + PowerChecks(self).findings
      + PriorityChecks(self, Result(catching: wakeUps)).findings
    return Finding.Severity.allCases.flatMap { severity in found.filter { $0.severity == severity }
    }
  }
}

/// A short time for sentences: `21.33 ms`.
struct Milliseconds: CustomStringConvertible {
  let value: Double

  init(_ value: Double) { self.value = value }

  var description: String {
    let text = "\((value * 100).rounded() / 100)"
    return (text.hasSuffix(".0") ? String(text.dropLast(2)) : text) + " ms"
  }
}
