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

    /// So many frames behind its first.
    func place(at offset: Int, sampleRate: Int) -> (frame: Int, nanoseconds: UInt64) {
      (frame + offset, nanoseconds &+ FrameTime.nanoseconds(of: offset, at: sampleRate))
    }
  }

  private var runs: [Run] = []
  /// How far the ring was heard when it was last looked at, and what it goes over then.
  var heard = 0
  var jump: RingJump?

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

  /// Where on the timeline the ring's frame was heard, or is going to be if nothing comes between,
  /// and when; nil where that is not known: before anything is heard, and while it stands still.
  func place(of ringFrame: Int, sampleRate: Int) -> (frame: Int, nanoseconds: UInt64)? {
    run(around: ringFrame).map { $0.run.place(at: $0.offset, sampleRate: sampleRate) }
  }

  /// Where what ends before `ringFrame` ends: right behind its last frame, though what follows may
  /// come later.
  func end(before ringFrame: Int, sampleRate: Int) -> (frame: Int, nanoseconds: UInt64)? {
    run(around: ringFrame - 1).map { $0.run.place(at: $0.offset + 1, sampleRate: sampleRate) }
  }

  /// The run in which the ring's frame is heard, and how far it lies behind the run's first.
  private func run(around ringFrame: Int) -> (run: Run, offset: Int)? {
    if let rest = framesUntil(ringFrame), let last = runs.last {
      return (last, heard - last.ringFrame + rest)
    }
    guard let past = runs.last(where: { $0.ringFrame <= ringFrame }),
      ringFrame < min(past.endFrame ?? heard, heard)
    else { return nil }
    return (past, ringFrame - past.ringFrame)
  }

  /// Frames that are heard before the ring's frame is; nil while it stands still, and where the frame
  /// was heard already or is never heard.
  func framesUntil(_ ringFrame: Int) -> Int? {
    guard let last = runs.last, last.endFrame == nil, ringFrame >= heard else { return nil }
    guard let jump, heard < jump.land, last.ringFrame < jump.land, ringFrame >= jump.leave else {
      return ringFrame - heard
    }
    guard ringFrame >= jump.land else { return nil }
    return max(0, jump.leave - heard) + ringFrame - jump.land
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
