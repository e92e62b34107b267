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
  private let buffer = EventBuffer()
  /// The first thing that went wrong with a source.
  private(set) var failure: FileFailure?

  private final class EventBuffer: Sendable {
    let events = MutexBox<[PlayerEvent]>([])
  }

  /// The progress of `player`; where something else is the command's business, only what fails of it.
  init(_ player: AudioPlayer, _ options: AudioOptions, tellsFailuresOnly: Bool = false) {
    self.player = player
    self.tellsFailuresOnly = tellsFailuresOnly
    prints = options.json
    announces = !options.json && !options.quiet
    player.onEvent { [buffer] event in buffer.events.withLock { $0.append(event) } }
  }

  /// Tells what has happened since it was last called.
  func follow() {
    let events = buffer.events.withLock { events in
      defer { events = [] }
      return events
    }
    for event in events { emit(event) }
  }

  /// For the summary: what was heard of each, and where it began.
  var tracks: JSON {
    .array(
      player.playedTurns.map { played in
        .object([
          "source": .string(played.turn.facts.name), "frames": .integer(played.frames),
          "startFrame": .integer(played.startFrame),
        ])
      })
  }

  private func emit(_ event: PlayerEvent) {
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
    Terminal.emit(Event("track", fields))
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

/// What is known of a track, for a person and for an event.
struct TrackTitle {
  private let facts: StreamInfo

  init(_ facts: StreamInfo) {
    self.facts = facts
  }

  /// For a person: `Artist - Title (Album), 3:12, 128 kbit/s`, or the file's name where it says
  /// nothing.
  var text: String {
    var path = facts.name[...]
    if SourceAddress.isRemote(facts.name) { path = path.prefix { $0 != "?" && $0 != "#" } }
    while path.last == "/" { path.removeLast() }
    let name = String(FileName.last(of: String(path)))
    let tags = facts.tags
    var text = [tags.artist, tags.title ?? (tags.artist == nil ? name : nil)]
      .compactMap { $0 }.joined(separator: " - ")
    if let album = tags.album { text += " (\(album))" }
    if let seconds = facts.seconds { text += ", " + ClockTime(seconds.rounded()).text }
    if let bitRate = facts.bitRate { text += ", \((bitRate + 500) / 1000) kbit/s" }
    return text
  }

  /// For an event.
  var fields: [(String, JSON)] {
    func string(_ name: String, _ value: String?) -> (String, JSON) {
      (name, value.map { .string($0) } ?? .null)
    }
    return [
      string("title", facts.tags.title), string("artist", facts.tags.artist),
      string("album", facts.tags.album),
      ("durationSeconds", facts.seconds.map { .rounded($0, 6) } ?? .null),
      ("bitRate", facts.bitRate.map { .integer($0) } ?? .null),
    ]
  }
}
