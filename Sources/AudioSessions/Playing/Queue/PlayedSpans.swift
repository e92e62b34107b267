import AudioFiles
import RealtimeAudio

/// Frames of a player's ring that are passed over, because something else is heard instead of them.
struct RingJump: Sendable {
  /// The first of them.
  var start: Int
  /// The frame that is heard after the one before `start`.
  var end: Int
}

/// What a queue has delivered, and what went wrong: written by the thread that reads the queue, seen
/// by others.
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

  /// Whether a turn has spans. By bisection, as turns follow in the order of their numbers: short sources are
  /// hundreds a second.
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

  /// What is read failed.
  mutating func fail(_ failure: FileFailure) {
    guard let track = spans.last?.track else { return }
    failures.append(
      Failure(
        track: track.number, index: track.place.index, name: track.facts.name, failure: failure))
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

/// Where a stretch of a track lies in what a queue has delivered: one a turn, and one more after each
/// seek and the like.
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

  /// Its frames, counted from the queue's first.
  var range: Range<Int> { startFrame..<max(startFrame, endFrame) }

}

/// What a player is doing.
public enum PlayerState: Sendable, Equatable {
  /// Nothing is to be played.
  case idle
  /// Something is, and is not there yet: a network is slow, a file is being opened.
  case waiting
  /// It plays.
  case playing
  /// It is paused.
  case paused
}

/// One turn of a source in a player's queue: the same file played twice is two tracks.
public final class PlayerTrack: Sendable {
  /// Counted up from 0 with each track.
  public let number: Int
  /// What is known of the source.
  public let facts: StreamInfo
  /// The decoders that were enqueued as such and are played now; empty for files and addresses.
  public let decoderIDs: [ObjectIdentifier]
  /// The source's place in the queue.
  let place: QueuePlace

  init(number: Int, place: QueuePlace, facts: StreamInfo, decoderIDs: [ObjectIdentifier]) {
    self.number = number
    self.place = place
    self.facts = facts
    self.decoderIDs = decoderIDs
  }

  /// The source's place in the queue.
  public var index: Int { place.index }
}

/// Something that happened on a player's way. Handed out on a thread of its own, never the audio
/// thread's.
///
/// ```swift
/// let player = AudioPlayer()
/// let subscription = player.addEventHandler { event in
///   switch event.kind {
///   case .renderingStarted: print("\(event.source) is heard")
///   case .failed(let failure): print(failure.message)
///   default: break
///   }
/// }
/// subscription.cancel()
/// ```
public struct PlayerEvent: Sendable {
  /// What happened.
  public enum Kind: Sendable {
    /// Its source is open, and its first frames are on their way.
    case decodingStarted
    /// Its last frame is decoded.
    case decodingComplete
    /// It was ended before its end: by a seek from a later one, a skip, a stop.
    case decodingCanceled
    /// Its first frame is heard soon: `frame` and `nanoseconds` say when, if nothing comes between;
    /// nil where the player stands still and that is not known.
    case renderingWillStart
    /// Its first frame was heard.
    case renderingStarted
    /// Its last frame was heard.
    case renderingComplete
    /// It is over in less than the chosen time: `frame` and `nanoseconds` say when, if nothing comes
    /// between. After a seek or another speed it is told anew when it comes to that.
    case endingSoon
    /// The last frame of the last source was heard.
    case endOfAudio
    /// It came to nothing, or ended before its end.
    case failed(FileFailure)
    /// What was asked for cannot be done with it; it goes on as before.
    case refused(FileFailure)
    /// A radio station says what it plays now.
    case titled(String)
    /// Frames were due and are not there: silence is played meanwhile.
    case waiting
    /// Enough frames are there: it goes on.
    case resumed
  }

  /// What happened.
  public var kind: Kind
  /// To which turn; nil where it concerns none.
  public var track: PlayerTrack?
  /// The source's place in the queue and its name, also where it never had a turn.
  public var index: Int
  /// Its name.
  public var source: String
  /// Where on the unit's timeline; nil where it has no place there.
  public var frame: Int?
  /// When its frame is or was heard, in nanoseconds of the host's clock; nil where it has no place in
  /// time.
  public var nanoseconds: UInt64?
  /// Frames that were heard of a turn that is over (`renderingComplete`, `decodingCanceled`), at the
  /// unit's rate; nil otherwise.
  public var playedFrames: Int?
  /// When it is told, in nanoseconds of the host's clock: within 20 ms of when it was known. In virtual time
  /// this is another clock than that of `nanoseconds`.
  public let toldNanoseconds = HostClock.nanoseconds
}
