// Audio thread.

import AudioBasics

/// An estimate of the frames that a sound server's input lost without an xrun. The plugins of
/// PipeWire and JACK continue if the program does not read their ring buffer for longer than it
/// lasts, for example because it was stopped or the machine was busy: they drop the newer frames
/// and report no error. PulseAudio keeps these frames and delivers them later, but none of the time
/// in which it moves a stream to another source.
///
/// After such a pause the ring still holds the frames from before the loss, which are read first.
/// The number of lost frames is then the time since the last wake-up before the pause, multiplied
/// by the rate, plus the frames unread at that time, minus all frames captured since.
struct DroppedFrameEstimator: BitwiseCopyable {
  /// The number of frames that the ring buffer holds.
  private let capacity: Int
  private let sampleRate: Int
  /// The time in nanoseconds in which frames that the server kept can still arrive.
  private let catchUpNanoseconds: UInt64
  /// The last wake-up: the frames that it left unread, and its time in nanoseconds; nil before the
  /// first one.
  private var last: (unread: Int, nanoseconds: UInt64)?
  /// The last wake-up before a pause whose dropped frames are not counted yet, and the number of
  /// frames read since.
  private var pause: (unread: Int, nanoseconds: UInt64)?
  private var read = 0
  /// The time of the first wake-up after the pause that left less than a period; 0 before.
  private var drainedAt: UInt64 = 0

  /// Creates an estimator for a ring buffer of `capacity` frames at `sampleRate` Hz. A server that
  /// keeps frames delivers them within `catchUpSeconds` after the ring was read.
  @_noLocks
  init(capacity: Int, sampleRate: Int, catchUpSeconds: Double = 0) {
    self.capacity = capacity
    self.sampleRate = sampleRate
    catchUpNanoseconds = UInt64(clamping: Int(clamping: catchUpSeconds * 1e9))
  }

  /// Ends the estimate: the input starts again.
  @_noLocks
  mutating func restart() {
    last = nil
    pause = nil
  }

  /// Records a wake-up that found `captured` frames, of which the cycle reads `frames`. Returns the
  /// number of frames dropped before the frames that the next cycles read; usually 0.
  @_noLocks
  mutating func note(captured: Int, taking frames: Int, at nanoseconds: UInt64) -> Int {
    let before = last
    last = (captured &- frames, nanoseconds)
    if pause == nil {
      guard let before, before.unread &+ passed(since: before.nanoseconds, nanoseconds) > capacity
      else { return 0 }
      pause = before
      read = 0
      drainedAt = 0
    }
    guard let pause else { return 0 }
    read &+= frames
    // The frames from before the loss are read first.
    guard captured &- frames < frames else {
      drainedAt = 0
      return 0
    }
    if drainedAt == 0 { drainedAt = nanoseconds }
    guard nanoseconds &- drainedAt >= catchUpNanoseconds else { return 0 }
    self.pause = nil
    let expected = pause.unread &+ passed(since: pause.nanoseconds, nanoseconds)
    let dropped = expected &- (read &- frames) &- captured
    // A server delivers its frames a little early or late.
    let tolerance = catchUpNanoseconds == 0 ? sampleRate / 100 : sampleRate / 10
    return dropped > tolerance ? dropped : 0
  }

  /// Returns the number of frames of the time from `start` to `end`.
  @_noLocks
  private func passed(since start: UInt64, _ end: UInt64) -> Int {
    guard end > start else { return 0 }
    return Int(clamping: FrameTime.frames(in: end &- start, at: sampleRate) + 0.5)
  }
}
