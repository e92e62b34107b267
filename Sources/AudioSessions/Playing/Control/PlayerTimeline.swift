import AudioBasics
import RealtimeAudio

/// A message about the ring buffer from the audio thread's part of a player.
enum PlayerMark: BitwiseCopyable, Sendable {
  /// The ring buffer is played from its frame `ringFrame` on, at `frame` of the unit's timeline and
  /// at `nanoseconds` of the device's clock.
  case playing(ringFrame: Int, frame: Int, nanoseconds: UInt64)
  /// The frames that are played without a gap end before this frame of the ring buffer.
  case passed(Int)
}

/// The frames of a player's ring buffer that were played, and their positions on the unit's
/// timeline: runs without a gap, the oldest first.
struct PlayerTimeline {
  private struct Run {
    var ringFrame: Int
    var frame: Int
    var nanoseconds: UInt64
    /// The frame at which the run ends; nil while it is unknown.
    var endFrame: Int?
  }

  /// The sample rate of the unit in frames per second.
  let sampleRate: Int
  private var runs: [Run] = []
  /// The number of frames of the ring buffer played at the last update, and the frames that were
  /// skipped then.
  var playedCount = 0
  var jump: RingJump?

  init(sampleRate: Int) { self.sampleRate = sampleRate }

  /// Adds a message of the player.
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

  /// Returns the frame of the timeline and the time at which the ring buffer's frame was played, or
  /// is expected to be played; nil if they are unknown: before anything is played, and while the
  /// playback does not advance.
  func position(of ringFrame: Int) -> (frame: Int, nanoseconds: UInt64)? {
    position(of: ringFrame, plus: 0)
  }

  /// Returns the end of the audio before `ringFrame`: directly after its last frame, even if the
  /// next frame is played later.
  func end(before ringFrame: Int) -> (frame: Int, nanoseconds: UInt64)? {
    position(of: ringFrame - 1, plus: 1)
  }

  /// Returns the same position plus a number of frames.
  private func position(of ringFrame: Int, plus frames: Int) -> (frame: Int, nanoseconds: UInt64)? {
    let rest = framesUntil(ringFrame)
    let past = runs.last { !heard(ringFrame..<ringFrame + 1, in: $0).isEmpty }
    guard let run = rest == nil ? past : runs.last else { return nil }
    let offset = (rest.map { playedCount + $0 } ?? ringFrame) - run.ringFrame + frames
    return (
      run.frame + offset, run.nanoseconds &+ FrameTime.nanoseconds(of: offset, at: sampleRate)
    )
  }

  /// Returns the number of frames that are played before the ring buffer's frame; nil while the
  /// playback does not advance, and if the frame was already played or is never played.
  func framesUntil(_ ringFrame: Int) -> Int? {
    guard let last = runs.last, last.endFrame == nil, ringFrame >= playedCount else { return nil }
    guard let jump, playedCount < jump.end, last.ringFrame < jump.end, ringFrame >= jump.start
    else {
      return ringFrame - playedCount
    }
    guard ringFrame >= jump.end else { return nil }
    return max(0, jump.start - playedCount) + ringFrame - jump.end
  }

  /// Returns how many of the ring buffer's frames `range` were played.
  func playedFrames(of range: Range<Int>) -> Int {
    runs.reduce(0) { $0 + heard(range, in: $1).count }
  }

  /// Returns the first frame of `range` that was played; nil if none was.
  func firstPlayed(of range: Range<Int>) -> Int? {
    runs.lazy.map { heard(range, in: $0) }.first { !$0.isEmpty }?.lowerBound
  }

  /// Returns those of the ring buffer's frames `range` that were played in `run`.
  private func heard(_ range: Range<Int>, in run: Run) -> Range<Int> {
    let first = max(run.ringFrame, range.lowerBound)
    return first..<max(first, min(run.endFrame ?? playedCount, playedCount, range.upperBound))
  }

  /// Removes the runs before `ringFrame`.
  mutating func forget(before ringFrame: Int) {
    while runs.count > 1, runs[1].ringFrame <= ringFrame { runs.removeFirst() }
  }
}
