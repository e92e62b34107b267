import RealtimeAudio

/// The event handlers of a player, and the history of the played tracks: the same in all sessions.
final class PlayerListeners: Sendable {
  /// The source of the player's events.
  let events = EventSource<PlayerEvent>()
  private let lead = MutexBox(0.0)
  private let finished = MutexBox(PlayedTrackHistory())

  /// Sets the time in seconds before a track's end at which `endingSoon` is sent; 0 for never.
  func endSoon(_ seconds: Double) { lead.withLock { $0 = max(0, seconds) } }

  /// The current setting of that time in seconds.
  var endingSoonSeconds: Double { lead.withLock { $0 } }

  /// The number of frames played of each track that is over.
  var playedTracks: [PlayedTrack] { finished.withLock { $0.tracks } }

  /// Adds the played part of a track that is over.
  func note(_ played: PlayedTrack) { finished.withLock { $0.add(played) } }
}
