import ArgumentParser
import AudioBasics
import AudioDevices
import AudioSessions
import RealtimeAudio

/// A level, or `off`.
enum LimitOption: ExpressibleByArgument {
  case decibels(Double)
  case off

  init?(argument: String) {
    if argument == "off" {
      self = .off
    } else if let decibels = WrittenNumber.decimal(argument) {
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

/// What protects the listener where a microphone is played.
///
/// Only there: what is played without one is never altered unless it is asked for, because
/// files are mastered up to full scale and play bit for bit.
struct MonitorProtectionOptions: ParsableArguments {
  @Option(
    parsing: .unconditional,
    help: .init(
      "Limiter: highest level of the output while the microphone is played, in dBFS.",
      valueName: "db|off"))
  var limit = LimitOption.decibels(-1)

  @Option(
    help: .init(
      "Feedback suppressor: lower the microphone when it howls, on or off.", valueName: "on|off"))
  var feedbackGuard = Switch.on

  @Option(
    parsing: .unconditional,
    help: .init("Attenuation of the microphone by the d key, in dB.", valueName: "db"))
  var dim = Gain(decibels: -20)

  func validate() throws {
    if case .decibels(let decibels) = limit, !(-60...0).contains(decibels) {
      throw ValidationError("--limit must be -60 to 0 dBFS, such as -1, or off.")
    }
    try require((-60...60).contains(dim.decibels), "--dim must be 0 to 60 dB, such as 20 or -20.")
  }

  /// Protects the output of `callbacks`, whose microphone comes to `fullScale` where it can go no higher; answers
  /// with what watches them.
  func install(
    on callbacks: inout Mixer, fullScale: Float, _ configuration: DuplexConfiguration
  ) -> MonitorProtectionDisplay {
    let rate = configuration.sampleRate
    let dimRequest = AtomicCounter()
    var protection = MonitorProtection(sampleRate: rate, dimRequest: dimRequest.makeView())
    if case .decibels(let decibels) = limit {
      protection.limiter = Limiter(limit: Gain(decibels: decibels).factor, sampleRate: rate)
    }
    protection.dimGain = Gain(decibels: -abs(dim.decibels))
    var reader: FeedbackEventReader?
    var ducks = AtomicCounter().makeView()
    if feedbackGuard == .on {
      let events = FeedbackEventWriter(sampleRate: rate)
      reader = events.makeReader()
      let suppressor = FeedbackSuppressor(
        sampleRate: rate, channelCount: configuration.playback?.channelCount ?? 1,
        fullScale: fullScale, events: events)
      ducks = suppressor.makeDuckView()
      protection.feedbackGuard = consume suppressor
    }
    let watch = MonitorProtectionDisplay(
      dimRequest: dimRequest, limitedFrames: protection.makeLimitedView(),
      ducks: ducks, events: reader)
    callbacks.protection = consume protection
    return watch
  }
}

/// Reports howls, handles the key that dims, and sums up.
final class MonitorProtectionDisplay: KeyResponder {
  private var events: FeedbackEventReader?
  private var dimRequest: AtomicCounter
  private let limitedFrames: CountView
  private let ducks: CountView
  private var isDimmed = false

  init(
    dimRequest: consuming AtomicCounter, limitedFrames: consuming CountView,
    ducks: consuming CountView, events: consuming FeedbackEventReader?
  ) {
    self.dimRequest = dimRequest
    self.limitedFrames = limitedFrames
    self.ducks = ducks
    self.events = events
  }

  /// Tells what happened.
  func poll() {
    while let event = events?.next() { emit(event) }
  }

  let bindings = KeyBindings.monitoring

  var states: [String] { isDimmed ? ["DIMMED"] : [] }

  func perform(_ action: KeyAction, at frame: Int) {
    guard action == .toggleDim else { return }
    isDimmed.toggle()
    dimRequest.publish(isDimmed ? 1 : 0)
    inform(
      isDimmed ? "dimmed" : "notDimmed",
      isDimmed ? "the microphone is attenuated." : "the microphone is at full level again.")
  }

  /// What it adds to a summary.
  var summary: Fields { ["limitedFrames": limitedFrames.value, "feedbackDucks": ducks.value] }

  /// What a summary says where no microphone is played.
  static let emptySummary: Fields = ["limitedFrames": 0, "feedbackDucks": 0]

  /// What was done, for a person; nothing where nothing was.
  var sentence: String {
    ducks.value == 0 ? "" : " There was feedback \(ducks.value.counted("time"))."
  }

  private func emit(_ event: FeedbackEvent) {
    let isDucked = event.state == .ducked
    let fields: Fields = [
      "state": isDucked ? "ducked" : "released", "frame": event.frame,
      "frequencyHz": event.frequencyHz.digits(1),
    ]
    tell(
      Event("guard", fields),
      isDucked
        ? "feedback at \(event.frequencyHz.shown(0)) Hz: the microphone is turned down."
        : "the feedback has ended: the microphone fades in again.")
  }
}
