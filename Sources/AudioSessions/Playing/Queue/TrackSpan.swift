/// Where a stretch of a track lies in what a queue has delivered: one a turn, and one more after each
/// seek and the like.
struct TrackSpan: Sendable {
  /// The turn it belongs to: counted up with each source that is begun.
  var turn: Int
  /// The source's place in the queue.
  var index: Int
  var facts: SourceFacts
  /// Its first frame, counted from the queue's first.
  var startFrame: Int
  /// Frames delivered so far, or that count where others took their place.
  var frames: Int
  /// Whether nothing more comes of it.
  var isClosed = false
  /// Whether its last frame is the turn's.
  var isComplete = false
  /// Where its frames lie in the file.
  var way: TrackWay
  /// How it is heard.
  var settings: TrackSettings

  var endFrame: Int { startFrame + frames }

  /// Its frames, counted from the queue's first.
  var range: Range<Int> { startFrame..<max(startFrame, endFrame) }

  /// The turn, as others know it.
  var playerTurn: PlayerTurn { PlayerTurn(number: turn, index: index, facts: facts) }
}
