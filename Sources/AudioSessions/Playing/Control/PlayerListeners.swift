import RealtimeAudio

/// The event handlers of a player, and the history of what was heard: the same in all sessions.
final class PlayerListeners: Sendable {
  /// What happens, for all who want to know.
  let events = EventSource<PlayerEvent>()
  private let lead = MutexBox(0.0)
  private let finished = MutexBox(PlayedTrackHistory())

  /// How long before a track's end it ends soon; 0 for never.
  func endSoon(_ seconds: Double) { lead.withLock { $0 = max(0, seconds) } }

  /// The same in seconds, as last set.
  var endingSoonSeconds: Double { lead.withLock { $0 } }

  /// How much was played of each track that is over.
  var playedTracks: [PlayedTrack] { finished.withLock { $0.tracks } }

  /// Adds what was played of a track that is over.
  func note(_ played: PlayedTrack) { finished.withLock { $0.add(played) } }
}
