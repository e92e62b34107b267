import AudioFiles
import AudioSessions
import RealtimeAudio

/// Tells how a player gets on, as events and to a person: what it says is gathered on its own thread
/// and printed on the one that watches.
final class TrackProgress {
  private let player: AudioPlayer
  private let prints: Bool
  /// Whether a person is told what fails, and what plays.
  let announces: Bool
  /// Whether only what fails is told.
  private let tellsFailuresOnly: Bool
  private let gathered = Gathered()
  /// The first thing that went wrong with a source.
  private(set) var failure: FileFailure?

  private final class Gathered: Sendable {
    let events = Guarded<[PlayerEvent]>([])
  }

  /// The progress of `player`; where something else is the command's business, only what fails of it.
  init(_ player: AudioPlayer, _ options: AudioOptions, tellsFailuresOnly: Bool = false) {
    self.player = player
    self.tellsFailuresOnly = tellsFailuresOnly
    prints = options.json
    announces = !options.json && !options.quiet
    player.onEvent { [gathered] event in gathered.events.withLock { $0.append(event) } }
  }

  /// Tells what has happened since it was last called.
  func follow() {
    let events = gathered.events.withLock { events in
      defer { events = [] }
      return events
    }
    for event in events { tell(event) }
  }

  /// For the summary: what was heard of each, and where it began.
  var tracks: JSON {
    .array(
      player.heardTurns.map { heard in
        .object([
          "source": .string(heard.turn.facts.name), "frames": .integer(heard.frames),
          "startFrame": .integer(heard.startFrame),
        ])
      })
  }

  private func tell(_ event: PlayerEvent) {
    switch event.kind {
    case .failed(let failure):
      self.failure = self.failure ?? failure
      if announces { Terminal.say("duplex: \(failure.message) \(failure.hint)") }
    case _ where tellsFailuresOnly: return
    case .refused(let failure):
      if announces { Terminal.say("duplex: \(failure.message) \(failure.hint)") }
    case .renderingStarted:
      if announces, let facts = event.turn?.facts { Terminal.say("\(TrackTitle(facts).text)") }
    case .titled(let title):
      if announces { Terminal.say("\(title)") }
    case .waiting:
      if announces { Terminal.say("duplex: waiting for \(event.source)") }
    default: break
    }
    guard prints, let state = event.kind.name else { return }
    var fields: [(String, JSON)] = [
      ("index", .integer(event.index)), ("source", .string(event.source)),
      ("state", .string(state)),
    ]
    if let frame = event.frame { fields.append(("frame", .integer(frame))) }
    switch event.kind {
    case .failed(let failure), .refused(let failure):
      fields.append(("message", .string(failure.message)))
    case .titled(let title): fields.append(("title", .string(title)))
    case .decodingStarted:
      if let facts = event.turn?.facts { fields += TrackTitle(facts).fields }
    default: break
    }
    Terminal.tell(Event("track", fields))
  }
}

extension PlayerEvent.Kind {
  /// The contract's word for it; nil where it is not told.
  fileprivate var name: String? {
    switch self {
    case .decodingStarted: "decodingStarted"
    case .decodingComplete: "decodingComplete"
    case .decodingCanceled: "decodingCanceled"
    case .renderingWillStart: "renderingWillStart"
    case .renderingStarted: "renderingStarted"
    case .renderingComplete: "renderingComplete"
    case .endOfAudio: "endOfAudio"
    case .failed: "failed"
    case .refused: "refused"
    case .waiting: "waiting"
    case .titled: "titled"
    case .resumed: "resumed"
    case .endingSoon: nil
    }
  }
}
