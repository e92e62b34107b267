// Audio thread.

import AudioBasics
import RealtimeAudio

/// A device's clock, which counts frames: by the host's time, or by virtual time.
struct DeviceClock: BitwiseCopyable, Sendable {
  private let isFree: Bool
  private let sampleRate: Int
  /// The number of its frames for one frame of an exact clock.
  private let rateRatio: Double
  /// The host's time in nanoseconds at which the clock was at `startFrame`.
  private var startNanoseconds: UInt64 = 0
  private var startFrame = 0
  /// The current frame of a free clock, and its time in nanoseconds.
  private var freeFrame = 0
  private var freeNanoseconds: UInt64 = 0

  init(isFree: Bool, sampleRate: Int, rateRatio: Double) {
    self.isFree = isFree
    self.sampleRate = sampleRate
    self.rateRatio = rateRatio
  }

  /// Starts the clock at `frame`.
  @_noLocks
  mutating func start(at frame: Int) {
    startFrame = frame
    startNanoseconds = isFree ? 0 : HostClock.nanoseconds
    advance(to: frame)
  }

  /// The current time in nanoseconds: the host's, or the time since a free clock's frame 0.
  var now: UInt64 {
    @_noLocks get { isFree ? freeNanoseconds : HostClock.nanoseconds }
  }

  /// The number of frames that are complete now.
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

  /// Returns the time in nanoseconds at which `frame` frames are complete.
  @_noLocks
  func nanoseconds(at frame: Int) -> UInt64 {
    if isFree { return frame == freeFrame ? freeNanoseconds : nanoseconds(of: frame) }
    return startNanoseconds &+ nanoseconds(of: max(0, frame &- startFrame))
  }

  /// Waits until `frame` frames are complete: free time jumps there; on the host's time the thread
  /// sleeps, for at most 100 ms. Returns false if they are not complete yet.
  @_noLocks
  mutating func wait(until frame: Int) -> Bool {
    if isFree {
      advance(to: max(frame, freeFrame))
      return true
    }
    // The nanosecond that is added ensures that the division in `frame` has reached the frame.
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
