import AudioFiles
import RealtimeAudio

/// The state of a player.
public enum PlayerState: Sendable, Equatable {
  /// There is nothing to play.
  case idle
  /// There is something to play that is not available yet: a network is slow, or a file is being
  /// opened.
  case waiting
  /// The player plays.
  case playing
  /// The player is paused.
  case paused
}

/// One playback of a source: a file that a player's queue plays twice is two tracks.
public final class PlayerTrack: Sendable {
  /// The number of the track, counted up from 0.
  public let number: Int
  /// The known properties of the source.
  public let info: StreamInfo
  /// The decoders that were enqueued as such and are played now; empty for files and addresses.
  public let decoderIDs: [ObjectIdentifier]
  /// The source's position in the queue.
  let position: QueuePosition

  init(number: Int, position: QueuePosition, info: StreamInfo, decoderIDs: [ObjectIdentifier]) {
    self.number = number
    self.position = position
    self.info = info
    self.decoderIDs = decoderIDs
  }

  /// The source's index in the queue.
  public var index: Int { position.index }
}

/// An event of a player. Delivered on a separate thread, never on the audio thread.
///
/// The events of a track have this order: `decodingStarted`, `decodingComplete`, and, independent
/// of the latter, `renderingWillStart`, `renderingStarted`, `endingSoon`; at last either
/// `renderingComplete` or `decodingCanceled`. A track that failed has neither of these two, and no
/// `decodingComplete`: `failed` reports its end as soon as the failure is found, up to 1.5 s before
/// its last good frame is played. `renderingStarted` may therefore follow `failed`;
/// `AudioPlayer.playedTracks` has the number of its frames that were played.
///
/// The events of two tracks overlap: the next track is decoded while one plays, and where it
/// follows without a gap, its `renderingStarted` may come before the `renderingComplete` of the
/// earlier one. Both then have the same `frame`: the first one that is played of the next track,
/// and the one after the last of the earlier track.
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
    /// The source is open, and its first frames are being decoded.
    case decodingStarted
    /// The last frame of the track is decoded.
    case decodingComplete
    /// The track was ended before its end: by a seek in an earlier one, a skip, or a stop.
    case decodingCanceled
    /// The first frame of the track will be played soon: `frame` and `nanoseconds` give the
    /// expected time, or are nil if the player does not advance and the time is unknown.
    case renderingWillStart
    /// The first frame of the track was played.
    case renderingStarted
    /// The last frame of the track was played; `frame` is the one after it. Not sent if the track
    /// failed.
    case renderingComplete
    /// The track ends in less than the chosen time: `frame` and `nanoseconds` give the expected
    /// time. After a seek or a change of speed, the event is sent again when that time is reached.
    case endingSoon
    /// The last frame of the last source was played.
    case endOfAudio
    /// The source could not be opened, or ended before its end. No event reports the end of its
    /// track.
    case failed(FileFailure)
    /// The source does not support a request, or has no such position; it continues as before.
    case refused(FileFailure)
    /// A radio station announces the title that it plays now, or its name. It is sent when the
    /// first frame of the title is played, or earlier by the 16 KiB that a decoder reads at once:
    /// up to a second at 128 kbit/s.
    case titled(String)
    /// Frames were due and not available: silence is played until they are.
    case waiting
    /// Enough frames are available: the playback continues.
    case resumed
  }

  /// The kind of the event.
  public var kind: Kind
  /// The track of the event; nil if the event concerns none.
  public var track: PlayerTrack?
  /// The source's index in the queue, even if none of it was played.
  public var index: Int
  /// The name of the source.
  public var source: String
  /// The frame on the unit's timeline; nil if the event has no position on it.
  public var frame: Int?
  /// The time at which the frame is or was played, in nanoseconds of the host's clock; nil if the
  /// event has no such time.
  public var nanoseconds: UInt64?
  /// The number of frames played of a track that is over (`renderingComplete`, `decodingCanceled`),
  /// at the unit's rate; nil otherwise.
  public var playedFrames: Int?
  /// The time of the report in nanoseconds of the host's clock: at most 20 ms after the event was
  /// detected. In virtual time this clock differs from that of `nanoseconds`.
  public let toldNanoseconds = HostClock.nanoseconds
}
