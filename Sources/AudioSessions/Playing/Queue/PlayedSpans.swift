import AudioFiles
import RealtimeAudio

/// The frames of a player's ring buffer that are skipped, because others are played instead of
/// them.
struct RingJump: Sendable {
  /// The first skipped frame.
  var start: Int
  /// The frame that is played after the one before `start`.
  var end: Int
}

/// The record of the spans that a queue has delivered, and of failures: written by the thread that
/// reads the queue, read by others.
struct PlayedSpans: Sendable {
  /// A source that could not be opened, or ended before its end.
  struct Failure: Sendable {
    /// The number of its turn; nil if the turn never began.
    var track: Int?
    var index: Int
    var name: String
    var failure: FileFailure
  }

  /// The delivered spans, the oldest first.
  var spans: [TrackSpan] = []
  /// The turns that were begun and then dropped, with the spans that would have been played.
  var canceled: [TrackSpan] = []
  var failures: [Failure] = []
  /// The requests that a source cannot fulfil.
  var refusals: [FileFailure] = []
  /// The titles that a radio station has announced, each with the frame of the queue from which it
  /// applies; nil for none.
  private var titles: [(frame: Int, text: String?)] = []
  /// The latest frames of the ring that the reader skips.
  var jump: RingJump?
  /// Whether no more frames follow.
  var isOver = false

  /// Returns the title that applies at `frame` of the queue; nil if there is none.
  func title(at frame: Int) -> String? { titles.last { $0.frame <= frame }?.text }

  /// Records that `title` applies from the next delivered frame on.
  mutating func announce(_ title: String?) {
    guard title != titles.last?.text else { return }
    let frame = spans.last?.endFrame ?? 0
    titles.removeAll { $0.frame >= frame }
    titles.append((frame, title))
  }

  /// Removes the titles that no longer apply at `frame` of the queue.
  mutating func forgetTitles(before frame: Int) {
    while titles.count > 1, titles[1].frame <= frame { titles.removeFirst() }
  }

  /// Returns the span that is played at `frame` of the queue.
  func span(at frame: Int) -> TrackSpan? {
    spans.last { $0.startFrame <= frame } ?? spans.first
  }

  /// Returns the track that is played at the queue's frame `frame`, and the frame of its source.
  func position(at frame: Int) -> PlaybackPosition? {
    span(at: frame).map { $0.position(at: frame) }
  }

  /// Returns whether a turn has spans. It bisects, since turns are in the order of their numbers:
  /// there may be hundreds of short sources per second.
  func holds(turn number: Int) -> Bool {
    var (first, end) = (0, spans.count)
    while first < end {
      let middle = (first + end) / 2
      if spans[middle].track.number < number { first = middle + 1 } else { end = middle }
    }
    return first < spans.count && spans[first].track.number == number
  }

  /// Closes the span around `frame` at that frame, and removes the spans after it. Returns the
  /// turns of which nothing was played.
  @discardableResult
  mutating func cut(at frame: Int, keeping track: PlayerTrack? = nil) -> [TrackSpan] {
    var unplayed: [TrackSpan] = []
    while let last = spans.last, last.startFrame >= frame {
      // The turn was never played.
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

  /// Removes the oldest spans, which are `finished`: played to their end. Spans that a cut has
  /// replaced since they were read stay.
  mutating func remove(_ finished: ArraySlice<TrackSpan>) {
    let count = zip(spans, finished).prefix {
      $0.track === $1.track && $0.startFrame == $1.startFrame
    }
    .count
    spans.removeFirst(count)
  }

  /// Records that the track that is read now failed.
  mutating func fail(_ failure: FileFailure) {
    guard let track = spans.last?.track else { return }
    failures.append(
      Failure(
        track: track.number, index: track.position.index, name: track.info.name, failure: failure))
  }

  /// Records that one part of the current source failed, while the other parts continue.
  mutating func fail(_ part: PartFailure) {
    guard let span = spans.last else { return }
    failures.append(
      Failure(track: nil, index: span.track.position.index, name: part.name, failure: part.failure))
  }

  mutating func fail(_ failure: FileFailure, item: QueueItem, index: Int) {
    failures.append(Failure(track: nil, index: index, name: item.name, failure: failure))
  }
}

/// A part of a track, and its position in the frames that a queue has delivered: one per turn, and
/// another one after each seek or change.
struct TrackSpan: Sendable {
  /// The turn to which the span belongs.
  let track: PlayerTrack
  /// The item that opens the turn's source again.
  let item: QueueItem
  /// The first frame of the span, counted from the first frame of the queue.
  var startFrame: Int
  /// The number of frames delivered so far, or the number that still counts if others replaced the
  /// rest.
  var frames: Int
  /// Whether no more frames are added to the span.
  var isClosed = false
  /// Whether the last frame of the span is that of the turn.
  var isComplete = false
  /// The positions of the frames in the file.
  var positions: PositionMap
  /// The playback settings.
  var settings: TrackSettings

  var endFrame: Int { startFrame + frames }

  /// Closes the span with the last frame of its turn.
  mutating func complete() {
    isComplete = true
    isClosed = true
  }

  /// Returns the position in the source of the queue's frame `frame`.
  func position(at frame: Int) -> PlaybackPosition {
    let boundary = positions.boundary(after: max(0, min(frame, endFrame) - startFrame))
    return PlaybackPosition(track: track, frame: Int(clamping: boundary))
  }

  /// The frames of the span, counted from the first frame of the queue.
  var range: Range<Int> { startFrame..<max(startFrame, endFrame) }
}

/// A position in the track that is playing.
public struct PlaybackPosition: Sendable {
  /// The track.
  public let track: PlayerTrack
  /// The frame of the source that is played next, at the source's own rate.
  public let frame: Int

  /// The number of frames of the source; nil if it is unknown.
  public var frameCount: Int? { track.info.frameCount }
  /// `frame` in seconds of the source.
  public var seconds: Double { Double(frame) / Double(track.info.sampleRate) }
  /// The duration of the source in seconds; nil if it is unknown.
  public var totalSeconds: Double? { track.info.seconds }
}
