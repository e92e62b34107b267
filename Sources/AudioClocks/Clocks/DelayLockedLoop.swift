// Audio thread.

/// A curve through noisy readings of a clock, which follows the clock as it wanders: how far it is,
/// how fast it runs, and how its rate changes.
///
/// F. Adriaensen, "Using a DLL to filter time" (Linux Audio Conference 2005), has a loop of second
/// order with fixed gains. Such gains are where a Kalman filter arrives, and before it arrives, its
/// gains are those of a line fitted to all readings so far. This is that filter: it begins as fast
/// as the readings allow, at about 1 Hz, narrows as they add up, and settles, at some 0.02 Hz,
/// where their noise and the clock's wander balance. A third order, the change of the rate, lets it
/// follow a clock that warms up without a lag. Readings need not come evenly, and one that is
/// missing costs nothing but what it would have told.
struct DelayLockedLoop: BitwiseCopyable, Sendable {
  /// When the last reading was taken in.
  private(set) var nanoseconds: UInt64 = 0
  private var frames = 0.0
  private var rate: Double
  private var change = 0.0
  /// Uncertainty: the variances of all three, and their covariances.
  private var spread = 0.0
  private var spreadRate = 0.0
  private var spreadChange = 0.0
  private var rateSpread = 0.0
  private var rateChange = 0.0
  private var changeSpread = 0.0
  /// By how much the variances of the rate and of its change grow in a second.
  private var rateWander: Double
  private var changeWander: Double
  /// The same of a clock that nothing is known of.
  private let firstChange: Double
  /// By how many parts per million a second such a clock's rate may be changing already.
  private static let firstPPM = 0.03

  /// A loop for a clock of nominally `framesPerSecond`. Within a second its rate wanders by
  /// `wanderPPM`, and the change of its rate by `swayPPM` a second; within more seconds by the
  /// square root of their number times that.
  @_noLocks
  init(framesPerSecond: Double, wanderPPM: Double, swayPPM: Double) {
    rate = framesPerSecond
    let unit = framesPerSecond * 1e-6
    rateWander = unit * unit * wanderPPM * wanderPPM
    changeWander = unit * unit * swayPPM * swayPPM
    firstChange = unit * unit * Self.firstPPM * Self.firstPPM
  }

  /// Frames at `time`, in nanoseconds: before the last reading or after it.
  @_noLocks
  func frames(at time: UInt64) -> Double {
    let elapsed = seconds(until: time)
    return frames + elapsed * (rate + elapsed * change / 2)
  }

  /// Frames a second at `time`.
  @_noLocks
  func framesPerSecond(at time: UInt64) -> Double {
    rate + change * seconds(until: time)
  }

  /// Begins anew at a reading that may be `uncertainty` frames wrong; the rate may be wrong by
  /// `rateUncertainty` frames a second.
  @_noLocks
  mutating func begin(
    at frames: Double, _ time: UInt64, uncertainty: Double, rateUncertainty: Double
  ) {
    self.frames = frames
    nanoseconds = time
    (spread, rateSpread, changeSpread) = (0, 0, 0)
    forget(uncertainty, rate: rateUncertainty)
  }

  /// Begins anew at `frames` with `framesPerSecond`; see above for how wrong they may be.
  @_noLocks
  mutating func begin(
    at frames: Double, _ time: UInt64, framesPerSecond: Double, uncertainty: Double,
    rateUncertainty: Double
  ) {
    rate = framesPerSecond
    begin(at: frames, time, uncertainty: uncertainty, rateUncertainty: rateUncertainty)
  }

  /// The clock runs at another rate: the estimates may be wrong by these amounts.
  @_noLocks
  mutating func forget(_ uncertainty: Double, rate rateUncertainty: Double) {
    change = 0
    (spreadRate, spreadChange, rateChange, changeSpread) = (0, 0, 0, firstChange)
    spread += uncertainty * uncertainty
    rateSpread += rateUncertainty * rateUncertainty
  }

  /// Goes on from where another filter is, by its own wander.
  @_noLocks
  mutating func adopt(_ other: DelayLockedLoop) {
    let wander = (rateWander, changeWander)
    self = other
    (rateWander, changeWander) = wander
  }

  /// The clock has another place, known to `noise` frames, and the same rate.
  @_noLocks
  mutating func move(to reading: ClockReading, noise: Double) {
    let elapsed = seconds(until: reading.nanoseconds)
    if elapsed > 0 { advance(elapsed) }
    nanoseconds = reading.nanoseconds
    frames = Double(reading.frames)
    (spread, spreadRate, spreadChange) = (noise * noise, 0, 0)
  }

  /// Takes in that the clock was at `place` at `time`, which is usually wrong by `noise` frames.
  @_noLocks
  mutating func take(_ place: Double, at time: UInt64, noise: Double) {
    let elapsed = seconds(until: time)
    guard elapsed > 0 else { return }
    advance(elapsed)
    nanoseconds = time
    let error = place - frames
    let total = spread + noise * noise
    let (gain, rateGain, changeGain) = (
      spread / total, spreadRate / total, spreadChange / total
    )
    frames += gain * error
    rate += rateGain * error
    change += changeGain * error
    changeSpread -= changeGain * spreadChange
    rateChange -= rateGain * spreadChange
    rateSpread -= rateGain * spreadRate
    spreadChange -= gain * spreadChange
    spreadRate -= gain * spreadRate
    spread -= gain * spread
  }

  @_noLocks
  private mutating func advance(_ elapsed: Double) {
    frames += elapsed * (rate + elapsed * change / 2)
    rate += elapsed * change
    let half = elapsed / 2
    spread +=
      elapsed
      * (2 * spreadRate + elapsed * (rateSpread + spreadChange + elapsed * rateChange)
        + elapsed * half * half * changeSpread)
    spreadRate +=
      elapsed * (rateSpread + spreadChange + 3 * half * rateChange + elapsed * half * changeSpread)
    spreadChange += elapsed * (rateChange + half * changeSpread)
    rateSpread += elapsed * (2 * rateChange + elapsed * changeSpread + rateWander)
    rateChange += elapsed * changeSpread
    changeSpread += elapsed * changeWander
  }

  @_noLocks
  private func seconds(until time: UInt64) -> Double {
    Double(Int64(bitPattern: time &- nanoseconds)) * 1e-9
  }
}
