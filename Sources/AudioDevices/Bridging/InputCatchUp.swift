// Audio thread.
import AudioBasics

/// The time after a pause of the program in which an input delivers frames that its server kept, as
/// PulseAudio does.
///
/// The frames come faster than in real time, and their count says nothing about the input's clock
/// until it agrees with that clock again. If it does not get there, the server has dropped frames.
struct InputCatchUp: BitwiseCopyable {
  /// The meaning of a reading of the input.
  enum Verdict: BitwiseCopyable {
    /// The input has delivered what its clock counts, as far as its steps allow.
    case current
    /// Frames that were kept are still missing.
    case behind
    /// The missing frames were dropped.
    case failed
  }

  /// The time in nanoseconds for which the input's buffer lasts: a longer pause fills it.
  private let pauseNanoseconds: UInt64
  /// The time in nanoseconds in which frames must arrive; 0 for an input that keeps none.
  private let limitNanoseconds: UInt64
  /// The number of frames by which a reading may be late at any time.
  private let toleranceFrames: Int
  /// The number of frames that count as progress.
  private let stepFrames: Int
  private var lastReadTime: UInt64 = 0
  /// The time at which the input must have made progress; 0 if it has not been paused.
  private var deadline: UInt64 = 0
  /// The smallest number of missing frames since the pause.
  private var leastBehind = Int.max

  /// Creates the state of an input that has not started. Its server delivers the frames that it
  /// kept within `seconds`; 0 if it keeps none.
  @_noLocks
  init(bufferFrames: Int, periodFrames: Int, sampleRate: Int, seconds: Double) {
    pauseNanoseconds = FrameTime.nanoseconds(of: bufferFrames, at: sampleRate)
    limitNanoseconds = UInt64(clamping: Int(clamping: seconds * 1e9))
    toleranceFrames = sampleRate / 50
    stepFrames = periodFrames
  }

  /// Whether the input's server keeps frames during a pause. If not, every reading is current.
  var keepsFrames: Bool {
    @_noLocks get { limitNanoseconds > 0 }
  }

  /// Whether the input still delivers frames that were kept.
  var isActive: Bool {
    @_noLocks get { deadline != 0 }
  }

  /// Resets the state when the input starts.
  @_noLocks
  mutating func restart() {
    lastReadTime = 0
    deadline = 0
  }

  /// Judges a reading at `now` that is `frames` frames behind the input's clock.
  @_noLocks
  mutating func note(behind frames: Int, at now: UInt64) -> Verdict {
    guard keepsFrames else { return .current }
    if lastReadTime != 0, now &- lastReadTime > pauseNanoseconds {
      deadline = now &+ limitNanoseconds
      leastBehind = .max
    }
    lastReadTime = now
    guard isActive else { return .current }
    guard frames > toleranceFrames else {
      deadline = 0
      return .current
    }
    if frames < leastBehind &- stepFrames {
      leastBehind = frames
      deadline = now &+ limitNanoseconds
    }
    return now < deadline ? .behind : .failed
  }
}
