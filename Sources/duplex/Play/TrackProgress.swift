import AudioFiles
import AudioSessions
import RealtimeAudio

/// Tells how a player gets on, as events and to a person: what it says is gathered on its own thread
/// and printed on the one that watches.
final class TrackProgress {
  private let player: AudioPlayer
  /// Whether a person is told what fails, and what plays.
  let announces = !OutputMode.current.json && !OutputMode.current.quiet
  /// Whether only what fails is told.
  private let tellsFailuresOnly: Bool
  private let events = MutexBox<[PlayerEvent]>([])
  /// The first thing that went wrong with a source.
  private(set) var failure: FileFailure?

  /// The progress of `player`; where something else is the command's business, only what fails of it.
  init(_ player: AudioPlayer, tellsFailuresOnly: Bool = false) {
    self.player = player
    self.tellsFailuresOnly = tellsFailuresOnly
    player.onEvent { [events] event in events.withLock { $0.append(event) } }
  }

  /// Tells what has happened since it was last called.
  func follow() {
    let events = events.withLock { events in
      defer { events = [] }
      return events
    }
    for event in events { emit(event) }
  }

  /// For the summary: what was heard of each, and where it began.
  var tracks: [Fields] {
    player.playedTurns.map { played in
      [
        "source": played.turn.facts.name, "frames": played.frames,
        "startFrame": played.startFrame,
      ]
    }
  }

  private func emit(_ event: PlayerEvent) {
    if case .failed(let failure) = event.kind { self.failure = self.failure ?? failure }
    var sentence: String?
    var more: Fields = [:]
    switch event.kind {
    case .failed(let failure), .refused(let failure):
      sentence = "duplex: \(failure.message) \(failure.hint)"
      more = ["message": failure.message]
    case .decodingStarted:
      if let facts = event.turn?.facts { more = TrackTitle(facts).fields }
    case .renderingStarted: sentence = event.turn.map { TrackTitle($0.facts).text }
    case .titled(let title): (sentence, more) = (title, ["title": title])
    case .waiting: sentence = "duplex: waiting for \(event.source)"
    default: break
    }
    if tellsFailuresOnly, !event.kind.isFailure { return }
    if announces, let sentence { Terminal.say("\(sentence)") }
    guard OutputMode.current.json, let state = event.kind.name else { return }
    var fields: Fields = ["index": event.index, "source": event.source, "state": state]
    if let frame = event.frame { fields += ["frame": frame] }
    Terminal.emit(Event("track", fields + more))
  }
}

extension PlayerEvent.Kind {
  fileprivate var isFailure: Bool { if case .failed = self { true } else { false } }

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
  var fields: Fields {
    [
      "title": facts.tags.title, "artist": facts.tags.artist, "album": facts.tags.album,
      "durationSeconds": facts.seconds, "bitRate": facts.bitRate,
    ]
  }
}
