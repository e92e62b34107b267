import AudioBasics
import RealtimeAudio

/// A message about its ring from a player's half on the audio thread.
enum PlayerMark: BitwiseCopyable, Sendable {
  /// The ring is heard from its frame `ringFrame` on, at `frame` of the unit's timeline and at
  /// `nanoseconds` of the device's clock.
  case playing(ringFrame: Int, frame: Int, nanoseconds: UInt64)
  /// Frames of the ring are passed over: those behind its first ones, of which that many are heard.
  case passed(Int)
}

/// Which frames of a player's ring were heard, and where on the unit's timeline: runs without a
/// gap, the oldest first.
struct PlayerTimeline {
  private struct Run {
    var ringFrame: Int
    var frame: Int
    var nanoseconds: UInt64
    /// Where what is heard ends, when that is known.
    var endFrame: Int?
  }

  /// Frames a second of the unit.
  let sampleRate: Int
  private var runs: [Run] = []
  /// How far the ring was heard when it was last looked at, and what it goes over then.
  var playedCount = 0
  var jump: RingJump?

  init(sampleRate: Int) { self.sampleRate = sampleRate }

  /// The player told something.
  mutating func add(_ mark: PlayerMark) {
    switch mark {
    case .passed(let ringFrame):
      if let last = runs.indices.last { runs[last].endFrame = ringFrame }
    case .playing(let ringFrame, let frame, let nanoseconds):
      if let last = runs.indices.last, runs[last].endFrame == nil {
        runs[last].endFrame = ringFrame
      }
      runs.append(
        Run(ringFrame: ringFrame, frame: frame, nanoseconds: nanoseconds, endFrame: nil))
    }
  }

  /// Where on the timeline the ring's frame was heard, or is going to be if nothing comes between,
  /// and when; nil where that is not known: before anything is heard, and while it stands still.
  func place(of ringFrame: Int) -> (frame: Int, nanoseconds: UInt64)? {
    place(of: ringFrame, plus: 0)
  }

  /// Where what ends before `ringFrame` ends: right behind its last frame, though what follows may
  /// come later.
  func end(before ringFrame: Int) -> (frame: Int, nanoseconds: UInt64)? {
    place(of: ringFrame - 1, plus: 1)
  }

  /// The same a number of frames behind it.
  private func place(of ringFrame: Int, plus frames: Int) -> (frame: Int, nanoseconds: UInt64)? {
    let rest = framesUntil(ringFrame)
    let past = runs.last { !heard(ringFrame..<ringFrame + 1, in: $0).isEmpty }
    guard let run = rest == nil ? past : runs.last else { return nil }
    let offset = (rest.map { playedCount + $0 } ?? ringFrame) - run.ringFrame + frames
    return (
      run.frame + offset, run.nanoseconds &+ FrameTime.nanoseconds(of: offset, at: sampleRate)
    )
  }

  /// Frames that are heard before the ring's frame is; nil while it stands still, and where the
  /// frame was heard already or is never heard.
  func framesUntil(_ ringFrame: Int) -> Int? {
    guard let last = runs.last, last.endFrame == nil, ringFrame >= playedCount else { return nil }
    guard let jump, playedCount < jump.end, last.ringFrame < jump.end, ringFrame >= jump.start
    else {
      return ringFrame - playedCount
    }
    guard ringFrame >= jump.end else { return nil }
    return max(0, jump.start - playedCount) + ringFrame - jump.end
  }

  /// How many of the ring's frames `range` were heard.
  func playedFrames(of range: Range<Int>) -> Int {
    runs.reduce(0) { $0 + heard(range, in: $1).count }
  }

  /// The first frame of `range` that was heard; nil where none was.
  func firstPlayed(of range: Range<Int>) -> Int? {
    runs.lazy.map { heard(range, in: $0) }.first { !$0.isEmpty }?.lowerBound
  }

  /// Those of the ring's frames `range` that were heard in `run`.
  private func heard(_ range: Range<Int>, in run: Run) -> Range<Int> {
    let first = max(run.ringFrame, range.lowerBound)
    return first..<max(first, min(run.endFrame ?? playedCount, playedCount, range.upperBound))
  }

  /// Forgets what lies before `ringFrame`.
  mutating func forget(before ringFrame: Int) {
    while runs.count > 1, runs[1].ringFrame <= ringFrame { runs.removeFirst() }
  }
}
