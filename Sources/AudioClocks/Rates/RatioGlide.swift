// Audio thread.

/// How far each output frame advances in the input, while that changes evenly from one ratio to
/// another.
struct RatioGlide: BitwiseCopyable {
  /// The input frames between the last output frame and the next.
  private(set) var step = FramePosition(1)
  private var target = FramePosition(1)
  private var increment = FramePosition(0)
  /// Output frames until the target is reached.
  private var rest = 0

  /// Goes to `ratio`: at once, or evenly over the next `frames` steps, the last of which equals it.
  @_noLocks
  mutating func glide(to ratio: Double, over frames: Int) {
    target = FramePosition(ratio)
    rest = max(0, frames)
    if rest > 0 {
      increment = FramePosition((ratio - step.frames) / Double(rest))
    } else {
      step = target
    }
  }

  /// Input frames an output frame advances by: now, and at the end of the glide.
  var ratios: (now: Double, finally: Double) {
    @_noLocks get { (step.frames, target.frames) }
  }

  /// Turns to the step that leads to the next output frame.
  @_noLocks
  mutating func next() {
    guard rest > 0 else { return }
    rest &-= 1
    // What the increment was rounded by must not stay for good.
    if rest == 0 { step = target } else { step.advance(by: increment) }
  }
}
