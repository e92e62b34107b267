import AudioFiles
import AudioSessions
import Duplex
import RealtimeAudio

/// Reports the progress of a player as events and as sentences. The events are collected on the
/// thread of the player and printed on the thread that watches the session.
final class TrackProgress {
  private let player: AudioPlayer
  /// Whether sentences about failures and tracks are printed.
  let announces = !OutputMode.current.json && !OutputMode.current.quiet
  /// Whether only failures are reported.
  private let reportsFailuresOnly: Bool
  /// The number of items in the queue.
  private let itemCount: Int
  private let events = MutexBox<[PlayerEvent]>([])
  /// The first failure of a source.
  private(set) var failure: FileFailure?
  /// The item that was waited for last, and the limit for messages about its waits: a slow server
  /// causes one every second.
  private var waitedIndex: Int?
  private var waits = NoticeInterval(seconds: 10)

  /// Reports the progress of `player`, which has `itemCount` items in its queue. With
  /// `reportsFailuresOnly` only failures are reported, for commands with another main task.
  init(_ player: AudioPlayer, itemCount: Int = 1, reportsFailuresOnly: Bool = false) {
    self.player = player
    self.itemCount = itemCount
    self.reportsFailuresOnly = reportsFailuresOnly
    player.addEventHandler { [events] event in events.withLock { $0.append(event) } }
  }

  /// Reports the events since the last call.
  func follow() {
    let events = events.withLock { events in
      defer { events = [] }
      return events
    }
    for event in events { emit(event) }
  }

  /// The fields for the summary: the number of frames played of each track, and its start.
  var tracks: [Fields] {
    player.playedTracks.map { played in
      [
        "source": played.track.info.name, "frames": played.frames,
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
      sentence = "duplex: \(failure.message) \(failure.optionHint)"
      more = ["message": failure.message]
    case .decodingStarted:
      if let info = event.track?.info { more = TrackTitle(info).fields }
    case .renderingStarted:
      sentence = event.track.map { track in
        TrackTitle.positionText(track.index, of: itemCount) + TrackTitle(track.info).text
      }
    case .titled(let title):
      (sentence, more) = (title.truncated(to: TrackTitle.maximumCharacters), ["title": title])
    case .waiting:
      if waitedIndex != event.index { waits = NoticeInterval(seconds: 10) }
      waitedIndex = event.index
      if waits.takes(at: HostClock.seconds) { sentence = "duplex: waiting for \(event.source)" }
    default: break
    }
    if reportsFailuresOnly, !event.kind.isFailure { return }
    if announces, let sentence { Terminal.say("\(sentence)") }
    guard OutputMode.current.json, let state = event.kind.name else { return }
    var fields: Fields = ["index": event.index, "source": event.source, "state": state]
    if let frame = event.frame { fields += ["frame": frame] }
    Terminal.emit(Event("track", fields + more))
  }
}

extension PlayerEvent.Kind {
  fileprivate var isFailure: Bool { if case .failed = self { true } else { false } }

  /// The name in events; nil if the event is not reported.
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
