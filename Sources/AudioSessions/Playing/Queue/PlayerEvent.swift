import AudioFiles

/// What a player is doing.
public enum PlayerState: Sendable, Equatable {
  /// Nothing is to be played.
  case idle
  /// Something is, and is not there yet: a network is slow, a file is being opened.
  case waiting
  case playing
  case paused
}

/// One turn of a source: the same file played twice has two.
public struct PlayerTurn: Sendable, Equatable {
  /// Counted up from 0 with each turn.
  public var number: Int
  /// The source's place in the queue.
  public var index: Int
  /// What is known of the source.
  public var facts: SourceFacts
}

/// Something that happened on a player's way. Handed out on a thread of its own, never the audio
/// thread's.
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
    /// nil where the player stands still and nobody knows.
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
  public var turn: PlayerTurn?
  /// The source's place in the queue and its name, also where it never had a turn.
  public var index: Int
  /// Its name.
  public var source: String
  /// Where on the unit's timeline; nil where it has no place there.
  public var frame: Int?
  /// When, in nanoseconds of the host's clock; nil where it has no place in time.
  public var nanoseconds: UInt64?
}

/// What was heard of a turn.
public struct HeardTurn: Sendable {
  /// Which.
  public var turn: PlayerTurn
  /// Its first frame on the unit's timeline.
  public var startFrame: Int
  /// Frames that were heard.
  public var frames: Int
}
