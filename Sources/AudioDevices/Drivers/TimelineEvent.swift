// Audio thread.

/// An event at a frame of a unit's timeline.
public struct TimelineEvent: BitwiseCopyable, Sendable, Equatable {
  /// The kind of an event: an xrun, an overflow, or a device's loss, return or absence.
  public enum Kind: UInt8, BitwiseCopyable, Sendable {
    /// The input lost frames: it overran, or another cause stopped it.
    case captureXrun
    /// The output ran dry.
    case playbackXrun
    /// Captured frames were lost because there was no room to store them.
    case overflow
    /// The device went away.
    case deviceLost
    /// The device came back; `frames` is the number of frames for which it was away.
    case deviceReturned
    /// The device was away until the end of the run.
    case deviceAbsent
    /// The input of two devices went away, and the output continues.
    case captureLost
    /// The input came back: `frames` frames from `frame` on were not captured.
    case captureReturned
    /// The input was away until the end of the run.
    case captureAbsent
    /// The output of two devices went away, and the input continues.
    case playbackLost
    /// The output came back.
    case playbackReturned
    /// The output was away until the end of the run.
    case playbackAbsent
    /// A secondary output went away, or came back: the one at `outputIndex`.
    case secondaryOutputLost, secondaryOutputReturned
  }

  /// The kind of the event.
  public var kind: Kind
  /// The position on the timeline at which the event occurred, or the gap begins.
  public var frame: Int
  /// The length of the gap in frames; 0 if there is none, or its length is not known.
  public var frames: Int
  /// The index in `DuplexConfiguration.secondaryOutputs` of the output that the event concerns; nil
  /// if it does not concern a secondary output.
  public var outputIndex: Int?
  /// The time in nanoseconds of the host's clock; 0 if it was not requested.
  public var nanoseconds: UInt64

  /// Creates an event of `frames` frames at `frame`. `outputIndex` is the index of a secondary
  /// output.
  @_noLocks
  public init(
    kind: Kind, frame: Int, frames: Int, outputIndex: Int? = nil, nanoseconds: UInt64 = 0
  ) {
    self.kind = kind
    self.frame = frame
    self.frames = frames
    self.outputIndex = outputIndex
    self.nanoseconds = nanoseconds
  }
}
