/// The stretch of a tape that goes into the file.
public struct TakeWindow: Sendable, Equatable {
  /// Its first frame on the tape.
  public var firstFrame: Int
  /// Its length; nil for all that comes.
  public var frames: Int?

  /// The stretch of `frames` frames from `firstFrame` on; all of the tape by default.
  public init(firstFrame: Int = 0, frames: Int? = nil) {
    self.firstFrame = firstFrame
    self.frames = frames
  }

  /// Which of `frames` frames, the first of which is the tape's frame `position`, lie within:
  /// counted from that first.
  func part(of position: Int, frames count: Int) -> Range<Int> {
    let end = frames.map { firstFrame + $0 } ?? .max
    let lower = min(count, max(0, firstFrame - position))
    let upper = min(count, max(lower, end == .max ? count : end - position))
    return lower..<max(lower, upper)
  }
}
