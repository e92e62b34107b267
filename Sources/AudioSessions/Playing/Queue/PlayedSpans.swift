import AudioFiles

/// Frames of a player's ring that are passed over, because something else is heard instead of them.
struct RingJump: Sendable {
  /// The first of them.
  var leave: Int
  /// The frame that is heard after the one before `leave`.
  var land: Int
}

/// What a queue has delivered, and what went wrong: written by the thread that reads the queue, seen
/// by others.
struct PlayedSpans: Sendable {
  /// A source that came to nothing, or ended before its end.
  struct Failure: Sendable {
    /// Its turn; nil where it never began.
    var turn: Int?
    var index: Int
    var name: String
    var failure: FileFailure
  }

  /// The oldest first.
  var spans: [TrackSpan] = []
  /// Turns that were begun and then not wanted, with what was to be heard of them.
  var canceled: [TrackSpan] = []
  var failures: [Failure] = []
  /// What was asked of a source and cannot be.
  var refusals: [FileFailure] = []
  /// What a radio station says it plays.
  var announcedTitle: String?
  /// What the reader goes over at last.
  var jump: RingJump?
  /// Whether nothing more comes.
  var isOver = false

  /// The one that is heard at `frame` of the queue.
  func span(at frame: Int) -> TrackSpan? {
    spans.last { $0.startFrame <= frame } ?? spans.first
  }

  /// Closes what lies around `frame` there, and takes out what lies behind it. Returns the turns of
  /// which nothing was heard.
  @discardableResult
  mutating func cut(at frame: Int, keeping turn: Int? = nil) -> [TrackSpan] {
    var unheard: [TrackSpan] = []
    while let last = spans.last, last.startFrame >= frame {
      // What was never heard.
      if last.turn != turn, !spans.dropLast().contains(where: { $0.turn == last.turn }) {
        canceled.append(last)
        unheard.append(last)
      }
      spans.removeLast()
    }
    guard let index = spans.indices.last else { return unheard }
    spans[index].frames = min(spans[index].frames, frame - spans[index].startFrame)
    spans[index].isClosed = true
    spans[index].isComplete = false
    return unheard
  }

  mutating func fail(_ failure: FileFailure, turn: Int) {
    guard let span = spans.last(where: { $0.turn == turn }) else { return }
    failures.append(
      Failure(turn: turn, index: span.index, name: span.facts.name, failure: failure))
  }

  /// A part of what plays failed, and the rest goes on.
  mutating func fail(_ part: PartFailure, turn: Int) {
    guard let span = spans.last(where: { $0.turn == turn }) else { return }
    failures.append(
      Failure(turn: nil, index: span.index, name: part.name, failure: part.failure))
  }

  mutating func fail(_ failure: FileFailure, item: QueueItem, index: Int) {
    failures.append(Failure(turn: nil, index: index, name: item.name, failure: failure))
  }
}
