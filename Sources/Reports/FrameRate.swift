/// Frames a second, and spans of frames as text.
struct FrameRate: Sendable {
  /// Milliseconds that a frame takes.
  let millisecondsPerFrame: Double

  init(_ sampleRate: Int) {
    millisecondsPerFrame = 1000 / Double(max(1, sampleRate))
  }

  /// "293.02 frames"
  func frames(_ frames: Double, decimals: Int = 2) -> String {
    guard frames.isDrawable else { return "not measured" }
    let text = NumberText.shortest(frames, decimals: decimals)
    return NumberText.typeset(text) + (text == "1" ? " frame" : " frames")
  }

  /// "6.105 ms"
  func milliseconds(_ frames: Double) -> String {
    guard frames.isDrawable else { return "not measured" }
    let milliseconds = frames * millisecondsPerFrame
    return NumberText.typeset(NumberText.fixed(milliseconds, decimals: 3)) + " ms"
  }

  /// "293.02 frames (6.105 ms)"
  func span(_ frames: Double) -> String {
    guard frames.isDrawable else { return "not measured" }
    return self.frames(frames) + " (" + milliseconds(frames) + ")"
  }
}
