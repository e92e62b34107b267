import RealtimeAudio

/// What happened to one of two devices while the other went on.
public struct SideNews: BitwiseCopyable, Sendable {
  /// What it was.
  public var kind: TimelineEvent.Kind
  /// Frames of the unit's that nobody captured meanwhile.
  public var frames: Int
  /// How many of them were silence on the timeline, rather than a gap in it.
  public var silentFrames: Int

  /// News of this kind.
  @_noLocks
  public init(_ kind: TimelineEvent.Kind, frames: Int = 0, silentFrames: Int = 0) {
    self.kind = kind
    self.frames = frames
    self.silentFrames = silentFrames
  }
}
