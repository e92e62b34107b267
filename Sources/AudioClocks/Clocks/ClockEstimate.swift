// Audio thread.

/// An estimate of a clock from its readings: the state of a `FilteredClock` at one moment. Cheap to
/// copy.
public struct ClockEstimate: BitwiseCopyable, Sendable {
  /// Whether a reading was received since the last start.
  public internal(set) var isRunning = false
  /// The time in nanoseconds at which the clock last restarted or was found at another rate. Its
  /// age counts from here.
  public internal(set) var begunNanoseconds: UInt64 = 0
  /// The time in nanoseconds of the last small change of the rate, which does not reset the age.
  var changedNanoseconds: UInt64 = 0
  var filter: KalmanClockFilter
  /// The frames by which a reading was ahead of the filter since the filter was last corrected.
  /// Readings are never early, so the estimate is raised by this amount.
  var raisedFrames = 0.0

  @_noLocks
  init(filter: KalmanClockFilter) { self.filter = filter }

  /// Returns the estimated rate at `nanoseconds`, in frames per second.
  @_noLocks
  public func framesPerSecond(at nanoseconds: UInt64) -> Double {
    filter.framesPerSecond(at: nanoseconds)
  }

  /// Returns the estimated position at `nanoseconds`, in frames.
  @_noLocks
  public func frames(at nanoseconds: UInt64) -> Double {
    filter.frames(at: nanoseconds) + raisedFrames
  }

  /// Returns the estimated time in nanoseconds at which the clock reaches `frames`: `now` if it has
  /// passed them already, and at most 1000 s after `now`.
  @_noLocks
  public func nanoseconds(at frames: Double, from now: UInt64) -> UInt64 {
    let wait = (frames - self.frames(at: now)) / filter.framesPerSecond(at: now)
    return wait > 0 ? now &+ UInt64(clamping: min(wait, 1000) * 1e9) : now
  }

  /// Returns the seconds for which the clock has run undisturbed, or 0 if it is not running.
  @_noLocks
  public func age(at now: UInt64) -> Double {
    isRunning && now > begunNanoseconds ? Double(now &- begunNanoseconds) * 1e-9 : 0
  }

  /// Returns the seconds for which, in addition, no change of its rate is known, or 0 if it is not
  /// running.
  @_noLocks
  func steadySeconds(at now: UInt64) -> Double {
    let since = max(begunNanoseconds, changedNanoseconds)
    return isRunning && now > since ? Double(now &- since) * 1e-9 : 0
  }
}
