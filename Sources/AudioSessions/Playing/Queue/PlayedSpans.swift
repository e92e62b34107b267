import AudioFiles
import RealtimeAudio

/// Frames of a player's ring that are passed over, because something else is heard instead of them.
struct RingJump: Sendable {
  /// The first of them.
  var start: Int
  /// The frame that is heard after the one before `start`.
  var end: Int
}

/// The record of what a queue has delivered, and of what failed: written by the thread that reads
/// the queue, read by others.
struct PlayedSpans: Sendable {
  /// A source that came to nothing, or ended before its end.
  struct Failure: Sendable {
    /// Its turn; nil where it never began.
    var track: Int?
    var index: Int
    var name: String
    var failure: FileFailure
  }

  /// The oldest first.
  var spans: [TrackSpan] = []
  /// Turns that were begun and then not wanted, with what was to be heard of them.
  var canceled: [TrackSpan] = []
  var failures: [Failure] = []
  /// The requests that a source cannot fulfil.
  var refusals: [FileFailure] = []
  /// The title that a radio station announces.
  var announcedTitle: String?
  /// The latest frames of the ring that the reader skips.
  var jump: RingJump?
  /// Whether nothing more comes.
  var isOver = false

  /// The one that is heard at `frame` of the queue.
  func span(at frame: Int) -> TrackSpan? {
    spans.last { $0.startFrame <= frame } ?? spans.first
  }

  /// The track that is played at the queue's frame `frame`, and the frame of its source.
  func position(at frame: Int) -> PlaybackPosition? {
    span(at: frame).map { $0.position(at: frame) }
  }

  /// Whether a turn has spans. By bisection, as turns follow in the order of their numbers: short
  /// sources are hundreds a second.
  func holds(turn number: Int) -> Bool {
    var (first, end) = (0, spans.count)
    while first < end {
      let middle = (first + end) / 2
      if spans[middle].track.number < number { first = middle + 1 } else { end = middle }
    }
    return first < spans.count && spans[first].track.number == number
  }

  /// Closes what lies around `frame` there, and takes out what lies behind it. Returns the turns of
  /// which nothing was heard.
  @discardableResult
  mutating func cut(at frame: Int, keeping track: PlayerTrack? = nil) -> [TrackSpan] {
    var unplayed: [TrackSpan] = []
    while let last = spans.last, last.startFrame >= frame {
      // What was never heard.
      if last.track !== track, !spans.dropLast().contains(where: { $0.track === last.track }) {
        canceled.append(last)
        unplayed.append(last)
      }
      spans.removeLast()
    }
    guard let index = spans.indices.last else { return unplayed }
    spans[index].frames = min(spans[index].frames, frame - spans[index].startFrame)
    spans[index].isClosed = true
    spans[index].isComplete = false
    return unplayed
  }

  /// Removes the oldest spans, which are `finished`: played to their end. Those that a cut has
  /// replaced since they were looked at stay.
  mutating func remove(_ finished: ArraySlice<TrackSpan>) {
    let count = zip(spans, finished).prefix {
      $0.track === $1.track && $0.startFrame == $1.startFrame
    }
    .count
    spans.removeFirst(count)
  }

  /// Notes that the track that is read now failed.
  mutating func fail(_ failure: FileFailure) {
    guard let track = spans.last?.track else { return }
    failures.append(
      Failure(
        track: track.number, index: track.place.index, name: track.info.name, failure: failure))
  }

  /// A part of what is read failed, and the rest goes on.
  mutating func fail(_ part: PartFailure) {
    guard let span = spans.last else { return }
    failures.append(
      Failure(track: nil, index: span.track.place.index, name: part.name, failure: part.failure))
  }

  mutating func fail(_ failure: FileFailure, item: QueueItem, index: Int) {
    failures.append(Failure(track: nil, index: index, name: item.name, failure: failure))
  }
}

/// A stretch of a track, and its position in what a queue has delivered: one a turn, and one more
/// after each seek and the like.
struct TrackSpan: Sendable {
  /// The turn it belongs to.
  let track: PlayerTrack
  /// What opens the turn's source anew.
  let item: QueueItem
  /// Its first frame, counted from the queue's first.
  var startFrame: Int
  /// Frames delivered so far, or that count where others took their place.
  var frames: Int
  /// Whether nothing more comes of it.
  var isClosed = false
  /// Whether its last frame is the turn's.
  var isComplete = false
  /// Where its frames lie in the file.
  var positions: PositionMap
  /// How it is heard.
  var settings: TrackSettings

  var endFrame: Int { startFrame + frames }

  /// Where in the source the queue's frame `frame` lies.
  func position(at frame: Int) -> PlaybackPosition {
    let boundary = positions.boundary(after: max(0, min(frame, endFrame) - startFrame))
    return PlaybackPosition(track: track, frame: Int(clamping: boundary))
  }

  /// Its frames, counted from the queue's first.
  var range: Range<Int> { startFrame..<max(startFrame, endFrame) }
}

/// A position in the track that is playing.
public struct PlaybackPosition: Sendable {
  /// The track.
  public let track: PlayerTrack
  /// The frame of the source that is heard next, at the source's own rate.
  public let frame: Int

  /// Frames of the source; nil where that is not known.
  public var frameCount: Int? { track.info.frameCount }
  /// `frame` in seconds of the source.
  public var seconds: Double { Double(frame) / Double(track.info.sampleRate) }
  /// Seconds of the source; nil where that is not known.
  public var totalSeconds: Double? { track.info.seconds }
}
