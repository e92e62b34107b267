import ArgumentParser
import AudioBasics
import AudioDevices
import AudioSessions

/// A level, or `off`.
enum LimitOption: ExpressibleByArgument {
  case decibels(Double)
  case off

  init?(argument: String) {
    if argument == "off" {
      self = .off
    } else if let decibels = NumberParser.decimal(argument) {
      self = .decibels(decibels)
    } else {
      return nil
    }
  }

  var defaultValueDescription: String {
    switch self {
    case .decibels(let decibels): "\(Int(clamping: decibels))"
    case .off: "off"
    }
  }
}

/// `on` or `off`.
enum Switch: String, ExpressibleByArgument, CaseIterable {
  case on, off
}

/// The options that protect the listener if a microphone is played.
///
/// They apply only in this case: playback without a microphone is never altered unless an option
/// requests it, because files are mastered up to full scale and are played bit for bit.
struct MonitorProtectionOptions: ParsableArguments {
  @Option(
    parsing: .unconditional,
    help: .init(
      "Limiter: highest level of the output while the microphone is played, in dBFS.",
      valueName: "db|off"))
  var limit = LimitOption.decibels(ProtectionSettings.defaultLimitDBFS)

  @Option(
    parsing: .unconditional,
    help: .init(
      "Delay all that is played, up to \(ProtectionSettings.lookAheads.upperBound.boundText) s, so that the limiter lowers it before a peak comes.",
      valueName: "time"))
  var limitLookahead = TimeOption.seconds(0)

  @Flag(help: "Limit the true peak, between the samples, too; with --limit-lookahead.")
  var limitTruePeak = false

  @Option(
    help: .init(
      "Feedback suppressor: lower the microphone when it howls, on or off.", valueName: "on|off"))
  var feedbackGuard = Switch.on

  @Option(
    parsing: .unconditional,
    help: .init("Attenuation of the output by the d key, in dB.", valueName: "db"))
  var dim = ProtectionSettings.defaultDimGain

  func validate() throws {
    if case .decibels(let decibels) = limit, !ProtectionSettings.limits.contains(decibels) {
      throw ValidationError(
        "--limit must be \(ProtectionSettings.limits.boundsText) dBFS, such as -1, or off.")
    }
    // A time in frames is checked at the highest rate; the granted rate is not known yet.
    try require(
      ProtectionSettings.lookAheads.contains(limitLookahead.seconds(at: 768_000)),
      "--limit-lookahead must be \(ProtectionSettings.lookAheads.boundsText) s, such as 5ms or 256f."
    )
    try require(
      !limitTruePeak || limitLookahead.seconds(at: 768_000) > 0,
      "--limit-true-peak needs a delay: add --limit-lookahead 5ms.")
    try require(
      OptionRanges.dims.contains(abs(dim.decibels)),
      "--dim must be \(OptionRanges.dims.boundsText) dB, such as 20 or -20.")
  }

  /// Throws if a look-ahead in frames is too long at `sampleRate`. Call it before files are
  /// written.
  func checkLookahead(at sampleRate: Int) throws(ToolFailure) {
    let lookAheads = ProtectionSettings.lookAheads
    guard !lookAheads.contains(limitLookahead.seconds(at: sampleRate)) else { return }
    let maximum = Int(clamping: lookAheads.upperBound * Double(sampleRate))
    throw .usage(
      "--limit-lookahead is longer than \(lookAheads.upperBound.boundText) s at \(sampleRate) Hz.",
      hint: "Use up to \(maximum)f, or a time such as 5ms.")
  }

  /// Installs the protection of the output in `callbacks`, whose gains must be set before. Returns
  /// the object that reports its actions.
  func install(
    on callbacks: inout Mixer, _ configuration: DuplexConfiguration
  ) -> MonitorProtectionDisplay {
    var settings = ProtectionSettings()
    switch limit {
    case .decibels(let decibels): settings.limitDBFS = decibels
    case .off: settings.limitDBFS = nil
    }
    settings.limitLookAheadSeconds = limitLookahead.seconds(at: configuration.sampleRate)
    settings.limitsTruePeak = limitTruePeak
    settings.suppressesFeedback = feedbackGuard == .on
    settings.dimGain = Gain(decibels: -abs(dim.decibels))
    return MonitorProtectionDisplay(callbacks.protectListener(settings, configuration))
  }
}

/// Reports feedback, handles the dim key, and contributes to the summary.
final class MonitorProtectionDisplay: KeyResponder {
  private var protection: ProtectionView
  private var isDimmed = false

  init(_ protection: consuming ProtectionView) {
    self.protection = protection
  }

  /// Reports the events since the last call.
  func poll() {
    while let event = protection.nextEvent() { emit(event) }
  }

  let bindings = KeyBindings.monitoring

  var states: [String] { isDimmed ? ["DIMMED"] : [] }

  func perform(_ action: KeyAction, at frame: Int) {
    guard action == .toggleDim else { return }
    isDimmed.toggle()
    protection.setDimmed(isDimmed)
    inform(
      isDimmed ? "dimmed" : "notDimmed",
      isDimmed ? "the output is attenuated." : "the output is at full level again.")
  }

  /// The number of frames by which the limiter delays the output.
  var delayFrames: Int { protection.delayFrames }

  /// The number of frames that a session needs for the fade-out at its end.
  var fadeFrames: Int { protection.fadeFrames }

  /// The fields for a summary.
  var summary: Fields {
    ["limitedFrames": protection.limitedFrames, "feedbackDucks": protection.duckCount]
  }

  /// The fields for a summary if no microphone is played.
  static let emptySummary: Fields = ["limitedFrames": 0, "feedbackDucks": 0]

  /// The sentence about feedback for the summary; empty if there was none.
  var sentence: String {
    let count = protection.duckCount
    return count == 0 ? "" : " There was feedback \(count.counted("time"))."
  }

  private func emit(_ event: FeedbackEvent) {
    let isDucked = event.state == .ducked
    let fields: Fields = [
      "state": isDucked ? "ducked" : "released", "frame": event.frame,
      "frequencyHz": event.frequencyHz.digits(1),
    ]
    reportEvent(
      Event("guard", fields),
      isDucked
        ? "feedback at \(event.frequencyHz.shown(0)) Hz: the microphone is turned down."
        : "the feedback has ended: the microphone fades in again.")
  }
}
