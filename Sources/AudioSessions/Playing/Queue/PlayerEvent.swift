import AudioFiles
import RealtimeAudio

/// The state of a player.
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

/// A source as it is played once: a file that a player's queue plays twice is two tracks.
public final class PlayerTrack: Sendable {
  /// Counted up from 0 with each track.
  public let number: Int
  /// What is known of the source.
  public let info: StreamInfo
  /// The decoders that were enqueued as such and are played now; empty for files and addresses.
  public let decoderIDs: [ObjectIdentifier]
  /// The source's place in the queue.
  let place: QueuePosition

  init(number: Int, place: QueuePosition, info: StreamInfo, decoderIDs: [ObjectIdentifier]) {
    self.number = number
    self.place = place
    self.info = info
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
///   case .renderingStarted: print("\(event.source) is played")
///   case .failed(let failure): print(failure.message)
///   default: break
///   }
/// }
/// subscription.cancel()
/// ```
public struct PlayerEvent: Sendable {
  /// The kind of an event.
  public enum Kind: Sendable {
    /// Its source is open, and its first frames are on their way.
    case decodingStarted
    /// Its last frame is decoded.
    case decodingComplete
    /// It was ended before its end: by a seek from a later one, a skip, a stop.
    case decodingCanceled
    /// Its first frame is played soon: `frame` and `nanoseconds` say when, if nothing comes
    /// between; nil where the player stands still and that is not known.
    case renderingWillStart
    /// Its first frame was played.
    case renderingStarted
    /// Its last frame was played.
    case renderingComplete
    /// It is over in less than the chosen time: `frame` and `nanoseconds` say when, if nothing
    /// comes between. After a seek or another speed it is told anew when it comes to that.
    case endingSoon
    /// The last frame of the last source was played.
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
  /// The track that it happened to; nil where it concerns none.
  public var track: PlayerTrack?
  /// The source's place in the queue, also where none of it was played.
  public var index: Int
  /// Its name.
  public var source: String
  /// Where on the unit's timeline; nil where it has no place there.
  public var frame: Int?
  /// When its frame is or was played, in nanoseconds of the host's clock; nil where it has no place
  /// in time.
  public var nanoseconds: UInt64?
  /// Frames that were played of a track that is over (`renderingComplete`, `decodingCanceled`), at
  /// the unit's rate; nil otherwise.
  public var playedFrames: Int?
  /// When it is told, in nanoseconds of the host's clock: within 20 ms of when it was known. In
  /// virtual time this is another clock than that of `nanoseconds`.
  public let toldNanoseconds = HostClock.nanoseconds
}
