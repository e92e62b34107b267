import AudioSessions
import RealtimeAudio

/// The ears' part in watching a session: tells of howls, hears the key that dims, and sums up.
final class EarsWatch {
  private let options: AudioOptions
  private var news: GuardNewsReader?
  private var dimWish: CountPublisher
  private let limitedFrames: CountView
  private let ducks: CountView
  private var isDimmed = false

  init(
    _ options: AudioOptions, dimWish: consuming CountPublisher,
    limitedFrames: consuming CountView, ducks: consuming CountView,
    news: consuming GuardNewsReader?
  ) {
    self.options = options
    self.dimWish = dimWish
    self.limitedFrames = limitedFrames
    self.ducks = ducks
    self.news = news
  }

  /// Tells what happened.
  func attend() {
    while let event = news?.next() { tell(event) }
  }

  /// The user pressed a key; false where it means nothing here.
  func press(_ key: Key) -> Bool {
    guard key == .character("d") else { return false }
    isDimmed.toggle()
    dimWish.publish(isDimmed ? 1 : 0)
    if isDimmed {
      Notice.news("dimmed", "dimmed.").report()
    } else {
      Notice.news("notDimmed", "no longer dimmed.").report()
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
    ducks.value == 0 ? "" : " It howled \(ducks.value) time\(ducks.value == 1 ? "" : "s")."
  }

  private func tell(_ event: GuardEvent) {
    let isDucked = event.state == .ducked
    if options.json {
      Terminal.tell(
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
          ? "duplex: it howls at \(event.frequencyHz.shown(0)) Hz: the microphone is turned down."
          : "duplex: the howl is gone: the microphone comes back, softly.")
    }
  }
}
