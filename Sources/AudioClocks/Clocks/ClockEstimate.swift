// Audio thread.

/// A clock as its readings tell it: what a `FilteredClock` knows at a moment. Copied at little
/// cost.
public struct ClockEstimate: BitwiseCopyable, Sendable {
  /// Whether any reading came since the last start.
  public internal(set) var isRunning = false
  /// When the clock was last begun anew or found at another rate: its age counts from here.
  public internal(set) var begunNanoseconds: UInt64 = 0
  /// When the rate last changed by little, so that the age goes on.
  var changedNanoseconds: UInt64 = 0
  var loop: DelayLockedLoop
  /// Frames by which a reading was ahead of the loop since that was last corrected: none is early.
  var raisedFrames = 0.0

  @_noLocks
  init(loop: DelayLockedLoop) { self.loop = loop }

  /// The estimated frames a second at `nanoseconds`.
  @_noLocks
  public func framesPerSecond(at nanoseconds: UInt64) -> Double {
    loop.framesPerSecond(at: nanoseconds)
  }

  /// The estimated frames at `nanoseconds`.
  @_noLocks
  public func frames(at nanoseconds: UInt64) -> Double {
    loop.frames(at: nanoseconds) + raisedFrames
  }

  /// When `frames` frames will have passed, as estimated.
  @_noLocks
  public func nanoseconds(at frames: Double, from now: UInt64) -> UInt64 {
    let wait = (frames - self.frames(at: now)) / loop.framesPerSecond(at: now)
    return wait > 0 ? now &+ UInt64(clamping: min(wait, 1000) * 1e9) : now
  }

  /// Seconds for which it has run undisturbed.
  @_noLocks
  public func age(at now: UInt64) -> Double {
    isRunning && now > begunNanoseconds ? Double(now &- begunNanoseconds) * 1e-9 : 0
  }

  /// Seconds for which its rate has not changed either, as far as is known.
  @_noLocks
  func steadySeconds(at now: UInt64) -> Double {
    let since = max(begunNanoseconds, changedNanoseconds)
    return isRunning && now > since ? Double(now &- since) * 1e-9 : 0
  }
}
