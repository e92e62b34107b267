/// Which frames of a file are played, in which direction and how often.
public struct PlayOrder: Sendable, Equatable {
  /// The first frame of the stretch, at the file's own rate.
  public var startFrame: Int
  /// The frame behind its last; nil for the file's end.
  public var endFrame: Int?
  /// How often the stretch is played; nil for ever.
  public var times: Int?
  /// Whether it is played from its last frame to its first.
  public var isReversed: Bool

  /// The stretch from `startFrame` to before `endFrame`, `times` times; the whole, once, by default.
  public init(
    startFrame: Int = 0, endFrame: Int? = nil, times: Int? = 1, isReversed: Bool = false
  ) {
    self.startFrame = max(0, startFrame)
    self.endFrame = endFrame
    self.times = times
    self.isReversed = isReversed
  }
}
