// Audio thread.

import RealtimeAudio
import AudioBasics

/// A device's own clock, which counts frames: on the host's time, or on time of its own.
struct DeviceClock: BitwiseCopyable, Sendable {
  private let isFree: Bool
  private let sampleRate: Int
  /// Its frames for one frame of a clock that is right.
  private let rateRatio: Double
  /// The host's time at which it stood at `startFrame`.
  private var startNanoseconds: UInt64 = 0
  private var startFrame = 0
  /// The present frame of a free clock, and its time.
  private var freeFrame = 0
  private var freeNanoseconds: UInt64 = 0

  init(isFree: Bool, sampleRate: Int, rateRatio: Double) {
    self.isFree = isFree
    self.sampleRate = sampleRate
    self.rateRatio = rateRatio
  }

  /// Lets it run, from `frame` on.
  @_noLocks
  mutating func start(at frame: Int) {
    startFrame = frame
    startNanoseconds = isFree ? 0 : HostClock.nanoseconds
    advance(to: frame)
  }

  /// Now, in nanoseconds: the host's, or those since a free clock's frame 0.
  var now: UInt64 {
    @_noLocks get { isFree ? freeNanoseconds : HostClock.nanoseconds }
  }

  /// Frames complete now.
  var frame: Int {
    @_noLocks get {
      if isFree { return freeFrame }
      let elapsed = HostClock.nanoseconds &- startNanoseconds
      if rateRatio != 1 {
        return startFrame &+ Int(clamping: Double(elapsed) * 1e-9 * Double(sampleRate) * rateRatio)
      }
      let rate = UInt64(sampleRate)
      let whole = elapsed / 1_000_000_000
      let rest = elapsed % 1_000_000_000
      return startFrame &+ Int(whole &* rate &+ rest &* rate / 1_000_000_000)
    }
  }

  /// When `frame` frames are complete.
  @_noLocks
  func nanoseconds(at frame: Int) -> UInt64 {
    if isFree { return frame == freeFrame ? freeNanoseconds : nanoseconds(of: frame) }
    return startNanoseconds &+ nanoseconds(of: max(0, frame &- startFrame))
  }

  /// Until `frame` frames are complete: free time jumps there, the host's is slept through, a tenth
  /// of a second at most. False where they are not complete yet.
  @_noLocks
  mutating func wait(until frame: Int) -> Bool {
    if isFree {
      advance(to: max(frame, freeFrame))
      return true
    }
    // A nanosecond later the division of `frame` has surely arrived.
    let due = nanoseconds(at: frame) &+ 1
    let now = HostClock.nanoseconds
    if now >= due { return true }
    HostClock.sleep(until: min(due, now &+ 100_000_000))
    return HostClock.nanoseconds >= due
  }

  @_noLocks
  private mutating func advance(to frame: Int) {
    freeFrame = frame
    freeNanoseconds = nanoseconds(of: frame)
  }

  @_noLocks
  private func nanoseconds(of frames: Int) -> UInt64 {
    if rateRatio != 1 {
      return UInt64(clamping: Double(frames) * 1e9 / (Double(sampleRate) * rateRatio))
    }
    return FrameTime.nanoseconds(of: frames, at: sampleRate)
  }
}
