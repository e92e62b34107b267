import AudioBasics
import RealtimeAudio

/// Which frames of a player's ring were heard, and where on the unit's timeline: runs without a gap,
/// the oldest first.
struct PlayerTimeline {
  private struct Run {
    var ringFrame: Int
    var frame: Int
    var nanoseconds: UInt64
    /// Where what is heard ends, when that is known.
    var endFrame: Int?
  }

  private var runs: [Run] = []

  /// The player told something.
  mutating func add(_ event: TimelineEvent) {
    switch event.kind {
    case .passed:
      if let last = runs.indices.last { runs[last].endFrame = event.frames }
    case .playing:
      if let last = runs.indices.last, runs[last].endFrame == nil {
        runs[last].endFrame = event.frames
      }
      runs.append(
        Run(
          ringFrame: event.frames, frame: event.frame, nanoseconds: event.nanoseconds, endFrame: nil
        )
      )
    default: break
    }
  }

  /// Where on the timeline the ring's frame is heard, and when; nil before anything is.
  func place(of ringFrame: Int, sampleRate: Int) -> (frame: Int, nanoseconds: UInt64)? {
    guard let run = runs.last(where: { $0.ringFrame <= ringFrame }) else { return nil }
    let offset = ringFrame - run.ringFrame
    let nanoseconds = run.nanoseconds &+ FrameTime.nanoseconds(of: offset, at: sampleRate)
    return (run.frame + offset, nanoseconds)
  }

  /// How many frames of the ring's frames `range` were heard, when it has been heard up to `heard`.
  func heardFrames(of range: Range<Int>, heard: Int) -> Int {
    runs.reduce(0) { sum, run in
      let end = min(run.endFrame ?? heard, heard, range.upperBound)
      return sum + max(0, end - max(run.ringFrame, range.lowerBound))
    }
  }

  /// The first frame of `range` that was heard; nil where none was.
  func firstHeard(of range: Range<Int>, heard: Int) -> Int? {
    for run in runs {
      let first = max(run.ringFrame, range.lowerBound)
      if first < min(run.endFrame ?? heard, heard, range.upperBound) { return first }
    }
    return nil
  }

  /// Forgets what lies before `ringFrame`.
  mutating func forget(before ringFrame: Int) {
    while runs.count > 1, runs[1].ringFrame <= ringFrame { runs.removeFirst() }
  }
}
