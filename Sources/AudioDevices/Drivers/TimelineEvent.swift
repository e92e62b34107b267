// Audio thread.

/// Something that happened at a frame of a unit's timeline.
public struct TimelineEvent: BitwiseCopyable, Sendable, Equatable {
  /// The kind of an event: an xrun, an overflow, or a device's loss, return or absence.
  public enum Kind: UInt8, BitwiseCopyable, Sendable {
    /// The input lost frames: the device overran, or something stopped it.
    case captureXrun
    /// The output ran dry.
    case playbackXrun
    /// Frames that were captured and found no room to be kept.
    case overflow
    /// The device went away.
    case deviceLost
    /// The device came back: `frames` is how many it was away for.
    case deviceReturned
    /// The device was away to the very end of the run.
    case deviceAbsent
    /// Of two devices the input went away, and the output goes on.
    case captureLost
    /// The input came back: `frames` frames from `frame` on were not captured.
    case captureReturned
    /// The input was away to the very end of the run.
    case captureAbsent
    /// Of two devices the output went away, and the input goes on.
    case playbackLost
    /// The output came back.
    case playbackReturned
    /// The output was away to the very end of the run.
    case playbackAbsent
    /// A secondary output went away, or came back: number `frames` of them.
    case secondaryOutputLost, secondaryOutputReturned
  }

  /// What happened.
  public var kind: Kind
  /// Where on the timeline it happened, or the gap begins.
  public var frame: Int
  /// How many frames the gap is long; of a secondary output its number, from 0.
  public var frames: Int
  /// When, in nanoseconds of the host's clock; 0 where it was not asked for.
  public var nanoseconds: UInt64

  /// An event of `frames` frames at `frame`.
  @_noLocks
  public init(kind: Kind, frame: Int, frames: Int, nanoseconds: UInt64 = 0) {
    self.kind = kind
    self.frame = frame
    self.frames = frames
    self.nanoseconds = nanoseconds
  }
}
