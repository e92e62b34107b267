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

/// What protects the listener where a microphone is heard.
///
/// Only there: what is played without one is never altered unless it is asked for, because
/// files are mastered up to full scale and play bit for bit.
struct MonitorProtectionOptions: ParsableArguments {
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Limiter: highest level of the output while the microphone is heard, in dBFS.",
      valueName: "db|off"))
  var limit = LimitOption.decibels(-1)

  @Option(
    help: ArgumentHelp(
      "Feedback suppressor: lower the microphone when it howls, on or off.", valueName: "on|off"))
  var feedbackGuard = Switch.on

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Attenuation of key d, in dB.", valueName: "db"))
  var dim = Gain(decibels: -20)

  func validate() throws {
    if case .decibels(let decibels) = limit, !(-60...0).contains(decibels) {
      throw ValidationError("--limit takes -60 to 0 dBFS, as -1, or off.")
    }
    guard (-60...60).contains(dim.decibels) else {
      throw ValidationError("--dim takes 0 to 60 dB, as 20 or -20.")
    }
  }

  /// Protects the output of `callbacks`, whose microphone comes to `fullScale` where it can go no higher; answers
  /// with what watches them.
  func install(
    on callbacks: inout Mixer, fullScale: Float, _ audio: AudioOptions,
    _ configuration: DuplexConfiguration
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
      audio, dimRequest: dimRequest, limitedFrames: protection.makeLimitedView(),
      ducks: ducks, events: reader)
    callbacks.protection = consume protection
    return watch
  }
}

/// Reports howls, handles the key that dims, and sums up.
final class MonitorProtectionDisplay {
  private let options: AudioOptions
  private var events: FeedbackEventReader?
  private var dimRequest: AtomicCounter
  private let limitedFrames: CountView
  private let ducks: CountView
  private var isDimmed = false

  init(
    _ options: AudioOptions, dimRequest: consuming AtomicCounter,
    limitedFrames: consuming CountView, ducks: consuming CountView,
    events: consuming FeedbackEventReader?
  ) {
    self.options = options
    self.dimRequest = dimRequest
    self.limitedFrames = limitedFrames
    self.ducks = ducks
    self.events = events
  }

  /// Tells what happened.
  func poll() {
    while let event = events?.next() { emit(event) }
  }

  /// The user pressed a key; false where it means nothing here.
  func press(_ key: Key) -> Bool {
    guard key == .character("d") else { return false }
    isDimmed.toggle()
    dimRequest.publish(isDimmed ? 1 : 0)
    if isDimmed {
      Notice.info("dimmed", "dimmed.").report()
    } else {
      Notice.info("notDimmed", "no longer dimmed.").report()
    }
    return true
  }

  /// What it adds to a summary.
  var summary: [(String, JSON)] {
    [
      ("limitedFrames", .integer(limitedFrames.value)), ("feedbackDucks", .integer(ducks.value)),
    ]
  }

  /// What a summary says where no microphone is heard.
  static var emptySummary: [(String, JSON)] {
    [("limitedFrames", .integer(0)), ("feedbackDucks", .integer(0))]
  }

  /// What was done, for a person; nothing where nothing was.
  var sentence: String {
    ducks.value == 0 ? "" : " There was feedback \(ducks.value) time\(ducks.value == 1 ? "" : "s")."
  }

  private func emit(_ event: FeedbackEvent) {
    let isDucked = event.state == .ducked
    if options.json {
      Terminal.emit(
        Event(
          "guard",
          [
            ("state", .string(isDucked ? "ducked" : "released")), ("frame", .integer(event.frame)),
            ("frequencyHz", .rounded(event.frequencyHz, 1)),
          ]
        ))
    } else if !options.quiet {
      Terminal.say(
        isDucked
          ? "duplex: feedback at \(event.frequencyHz.shown(0)) Hz: the microphone is turned down."
          : "duplex: the feedback has ended: the microphone fades in again.")
    }
  }
}
