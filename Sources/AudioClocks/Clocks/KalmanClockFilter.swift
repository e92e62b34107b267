// Audio thread.

/// A Kalman filter of third order for noisy readings of a clock. It estimates the position of the
/// clock, its rate, and the change of its rate.
///
/// F. Adriaensen, "Using a DLL to filter time" (Linux Audio Conference 2005), describes a loop of
/// second order with fixed gains. The gains of a Kalman filter converge to such fixed gains; before
/// that, they are the gains of a line fitted to all readings so far. This filter begins with the
/// largest bandwidth that the readings allow, about 1 Hz. The bandwidth narrows as readings
/// accumulate and settles at about 0.02 Hz, where the noise of the readings and the wander of the
/// clock balance. The third order, the change of the rate, lets the filter follow a clock that
/// warms up without a lag. Readings may come at uneven times, and a missing reading costs only its
/// own information.
struct KalmanClockFilter: BitwiseCopyable, Sendable {
  /// The time of the last reading used, in nanoseconds.
  private(set) var nanoseconds: UInt64 = 0
  private var frames = 0.0
  private var rate: Double
  private var change = 0.0
  /// The uncertainty: the variances of the position, the rate and the change, and their
  /// covariances.
  private var positionVariance = 0.0
  private var positionRateCovariance = 0.0
  private var positionChangeCovariance = 0.0
  private var rateVariance = 0.0
  private var rateChangeCovariance = 0.0
  private var changeVariance = 0.0
  /// The growth of the variances of the rate and of its change, per second.
  private var rateNoise: Double
  private var changeNoise: Double
  /// The variance of the change of the rate of an unknown clock.
  private let initialChangeVariance: Double
  /// The standard deviation of the change of the rate of such a clock, in parts per million per
  /// second.
  private static let initialChangePPM = 0.03

  /// Creates a filter for a clock of nominally `framesPerSecond`. In one second, its rate varies by
  /// `rateNoisePPM` parts per million, and the change of its rate by `rateDriftNoisePPM` parts per
  /// million per second. In n seconds, both vary by √n times as much.
  @_noLocks
  init(framesPerSecond: Double, rateNoisePPM: Double, rateDriftNoisePPM: Double) {
    rate = framesPerSecond
    let unit = framesPerSecond * 1e-6
    rateNoise = unit * unit * rateNoisePPM * rateNoisePPM
    changeNoise = unit * unit * rateDriftNoisePPM * rateDriftNoisePPM
    initialChangeVariance = unit * unit * Self.initialChangePPM * Self.initialChangePPM
  }

  /// Returns the position in frames at `time`, in nanoseconds, before or after the last reading.
  @_noLocks
  func frames(at time: UInt64) -> Double {
    let elapsed = seconds(until: time)
    return frames + elapsed * (rate + elapsed * change / 2)
  }

  /// Returns the rate at `time`, in frames per second.
  @_noLocks
  func framesPerSecond(at time: UInt64) -> Double {
    rate + change * seconds(until: time)
  }

  /// Restarts at a reading with an uncertainty of `uncertainty` frames. The uncertainty of the rate
  /// is `rateUncertainty` frames per second.
  @_noLocks
  mutating func begin(
    at frames: Double, _ time: UInt64, uncertainty: Double, rateUncertainty: Double
  ) {
    self.frames = frames
    nanoseconds = time
    (positionVariance, rateVariance, changeVariance) = (0, 0, 0)
    forget(uncertainty, rate: rateUncertainty)
  }

  /// Restarts at `frames` with the rate `framesPerSecond`. See above for the uncertainties.
  @_noLocks
  mutating func begin(
    at frames: Double, _ time: UInt64, framesPerSecond: Double, uncertainty: Double,
    rateUncertainty: Double
  ) {
    rate = framesPerSecond
    begin(at: frames, time, uncertainty: uncertainty, rateUncertainty: rateUncertainty)
  }

  /// Widens the uncertainty of the estimates by these amounts because the clock runs at another
  /// rate.
  @_noLocks
  mutating func forget(_ uncertainty: Double, rate rateUncertainty: Double) {
    change = 0
    (positionRateCovariance, positionChangeCovariance, rateChangeCovariance, changeVariance) = (
      0, 0, 0, initialChangeVariance
    )
    positionVariance += uncertainty * uncertainty
    rateVariance += rateUncertainty * rateUncertainty
  }

  /// Continues from the state of another filter, but keeps its own process noise.
  @_noLocks
  mutating func adopt(_ other: KalmanClockFilter) {
    let noise = (rateNoise, changeNoise)
    self = other
    (rateNoise, changeNoise) = noise
  }

  /// Moves the clock to another position, known to `noise` frames, at the same rate.
  @_noLocks
  mutating func move(to reading: ClockReading, noise: Double) {
    let elapsed = seconds(until: reading.nanoseconds)
    if elapsed > 0 { advance(elapsed) }
    nanoseconds = reading.nanoseconds
    frames = Double(reading.frames)
    (positionVariance, positionRateCovariance, positionChangeCovariance) = (noise * noise, 0, 0)
  }

  /// Updates the estimate with the position `position` of the clock at `time`. `noise` is the usual
  /// error of the position, in frames.
  @_noLocks
  mutating func take(_ position: Double, at time: UInt64, noise: Double) {
    let elapsed = seconds(until: time)
    guard elapsed > 0 else { return }
    advance(elapsed)
    nanoseconds = time
    let error = position - frames
    let total = positionVariance + noise * noise
    let (gain, rateGain, changeGain) = (
      positionVariance / total, positionRateCovariance / total, positionChangeCovariance / total
    )
    frames += gain * error
    rate += rateGain * error
    change += changeGain * error
    changeVariance -= changeGain * positionChangeCovariance
    rateChangeCovariance -= rateGain * positionChangeCovariance
    rateVariance -= rateGain * positionRateCovariance
    positionChangeCovariance -= gain * positionChangeCovariance
    positionRateCovariance -= gain * positionRateCovariance
    positionVariance -= gain * positionVariance
  }

  @_noLocks
  private mutating func advance(_ elapsed: Double) {
    frames += elapsed * (rate + elapsed * change / 2)
    rate += elapsed * change
    let half = elapsed / 2
    positionVariance +=
      elapsed
      * (2 * positionRateCovariance + elapsed
        * (rateVariance + positionChangeCovariance + elapsed * rateChangeCovariance)
        + elapsed * half * half * changeVariance)
    positionRateCovariance +=
      elapsed
      * (rateVariance + positionChangeCovariance + 3 * half * rateChangeCovariance + elapsed * half
        * changeVariance)
    positionChangeCovariance += elapsed * (rateChangeCovariance + half * changeVariance)
    rateVariance += elapsed * (2 * rateChangeCovariance + elapsed * changeVariance + rateNoise)
    rateChangeCovariance += elapsed * changeVariance
    changeVariance += elapsed * changeNoise
  }

  @_noLocks
  private func seconds(until time: UInt64) -> Double {
    Double(Int64(bitPattern: time &- nanoseconds)) * 1e-9
  }
}
