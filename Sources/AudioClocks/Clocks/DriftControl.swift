// Audio thread.

/// Computes the resampling ratio that converts frames of one clock to frames of another and keeps
/// the delay between them at its set value.
///
/// The estimates of the two clocks determine the correct position of the converter. The ratio is
/// the ratio of their rates plus a correction of the position error. The gain of the correction
/// falls from about 0.5 Hz right after a start to 0.01 Hz: the correction is fast first, then too
/// slow to be heard. The ratio and its slope change without a jump, because the ratio passes a
/// low-pass filter (`RatioSmoother`), whose bandwidth follows the gain and is low once the clocks
/// are locked. The ratio changes by no more than `slew` per second and stays within `limit` of its
/// nominal value.
///
/// ```swift
/// var input = FilteredClock(framesPerSecond: 48000)
/// var output = FilteredClock(framesPerSecond: 48000)
/// for tenth in 0..<600 {
///   let now = UInt64(tenth) * 100_000_000
///   let frames = Int(Double(tenth) * 4800.24)  // 50 ppm fast
///   input.take(ClockReading(frames: frames, nanoseconds: now))
///   output.take(ClockReading(frames: tenth * 4800, nanoseconds: now))
/// }
/// let control = DriftControl(nominalRatio: 1, delaySeconds: 0.01)
/// let drift = control.driftPPM(input.estimate, output.estimate, at: 59_900_000_000)
/// precondition(abs(drift - 50) < 5)
/// ```
public struct DriftControl: BitwiseCopyable, Sendable {
  /// The largest deviation from the nominal ratio, as a fraction of it: 0.006 is 6,000 ppm.
  public static let limit = 0.006
  /// The largest change of the ratio per second, as a fraction of its nominal value.
  private static let slew = 0.05
  /// The bandwidth of the ratio in radians per second: the value for locked clocks, the value per
  /// unit of gain before that, and the maximum. The estimates of locked clocks change in small
  /// steps. At the locked bandwidth such a step leaves less than -148 dB beside a sine of 10 kHz
  /// (`ClockTrial`, with the pitch over a quarter of a second fitted by a polynomial of degree 12).
  private static let lockedBandwidth = 20.0
  private static let bandwidthPerGain = 40.0
  private static let maximumBandwidth = 120.0
  /// The distance between the ratio and the wanted ratio, as a fraction, at which the bandwidth of
  /// locked clocks is doubled.
  private static let farRatio = 20e-6
  /// The fraction of an error that is corrected per second: at first, and finally.
  private static let firstGain = 3.0
  private static let finalGain = 0.06
  /// The least gain for an error of a frame or more, the frames up to which an error does not use
  /// that gain, and the relative increase of the gain for such an error while a clock is hardly
  /// known.
  private static let farGain = 0.5
  private static let nearFrames = 0.5
  private static let startUpParts = 2.0
  /// The factor by which the smoothing of the error is faster than its correction.
  private static let smoothing = 4.0

  /// The number of input frames per output frame if both clocks ran at their nominal rates.
  public let nominalRatio: Double
  /// The seconds from the capture of a frame to its playback.
  public private(set) var delaySeconds: Double
  /// The number of input frames per output frame, as last returned by `steer`.
  public private(set) var ratio: Double
  /// The distance of the converter from its correct position at the last `steer`, in output frames.
  /// Positive if the delay is too short.
  public private(set) var errorFrames = 0.0
  private var smoothed = 0.0
  /// The last target of the ratio.
  private var wanted: Double
  private var smoother: RatioSmoother

  /// Creates a control that keeps `delaySeconds` from input to output.
  @_noLocks
  public init(nominalRatio: Double, delaySeconds: Double) {
    self.nominalRatio = nominalRatio
    self.delaySeconds = delaySeconds
    ratio = nominalRatio
    wanted = nominalRatio
    smoother = RatioSmoother(nominalRatio)
  }

  /// Returns the estimated rate difference in parts per million, positive if the input's clock is
  /// faster than the output's.
  @_noLocks
  public func driftPPM(
    _ input: ClockEstimate, _ output: ClockEstimate, at now: UInt64
  ) -> Double {
    let measured = input.framesPerSecond(at: now) / output.framesPerSecond(at: now)
    return (measured / nominalRatio - 1) * 1e6
  }

  /// Returns the input position in frames that must be played at output frame `frame`, by the
  /// estimates of both clocks at `now`.
  @_noLocks
  public func target(
    _ input: ClockEstimate, _ output: ClockEstimate, frame: Double, at now: UInt64
  ) -> Double {
    let ahead = (frame - output.frames(at: now)) / output.framesPerSecond(at: now)
    return input.frames(at: now) + input.framesPerSecond(at: now) * (ahead - delaySeconds)
  }

  /// Returns the ratio for the next `frames` output frames. `error` is the number of input frames
  /// by which the position of the first of them exceeds its `target`.
  @_noLocks
  public mutating func steer(
    _ input: ClockEstimate, _ output: ClockEstimate, error: Double, frames: Int, at now: UInt64
  ) -> Double {
    errorFrames = error / nominalRatio
    let schedule = GainSchedule(seconds: min(input.age(at: now), output.age(at: now)))
    let change = GainSchedule(
      seconds: min(input.steadySeconds(at: now), output.steadySeconds(at: now)))
    let gain = gain(schedule, change)
    let pace = output.framesPerSecond(at: now)
    let seconds = Double(frames) / pace
    let smoothingGain = max(gain, min(Self.firstGain, change.near))
    smoothed += (error - smoothed) * min(1, seconds * Self.smoothing * smoothingGain)
    let minimum = nominalRatio * (1 - Self.limit)
    let maximum = nominalRatio * (1 + Self.limit)
    let bandwidth = bandwidth(gain: gain)
    // The target is the ratio that will be correct when the smoothed ratio reaches it.
    let then = now &+ UInt64(clamping: RatioSmoother.delaySeconds(bandwidth: bandwidth) * 1e9)
    wanted =
      (input.framesPerSecond(at: then) - gain * smoothed) / output.framesPerSecond(at: then)
    smoother.follow(max(minimum, min(maximum, wanted)), seconds: seconds, bandwidth: bandwidth)
    let step = seconds * nominalRatio * Self.slew
    let slewed = max(ratio - step, min(ratio + step, smoother.value))
    ratio = max(minimum, min(maximum, slewed))
    return ratio
  }

  /// Control gain as a function of the time since an event: the fraction of an error that is
  /// corrected per second.
  private struct GainSchedule: BitwiseCopyable {
    /// The gain while little is known yet.
    var gain: Double
    /// 1 in the first seconds, and falling from then on.
    var early: Double
    /// The gain for an error below one frame.
    var near: Double { @_noLocks get { gain * (early * early * early * early) } }

    @_noLocks
    init(seconds: Double) {
      gain = 3 / max(seconds, 0.1)
      early = min(1, gain)
    }
  }

  /// Returns the fraction of the error that is corrected per second. `schedule` counts from the
  /// start of the younger clock, and `change` from the last change of a rate.
  ///
  /// The correction of an error of nearly a frame matters more than an even ratio. A smaller error,
  /// if corrected late, would bend the ratio when it should already be correct. Between the two the
  /// gain changes evenly, because a gain that jumps bends the ratio too.
  @_noLocks
  private func gain(_ schedule: GainSchedule, _ change: GainSchedule) -> Double {
    let near = max(Self.finalGain, schedule.near)
    let far = max(Self.farGain, change.gain * (1 + Self.startUpParts * change.early * change.early))
    let distance = abs(smoothed) / nominalRatio - Self.nearFrames
    let farPart = max(0, min(1, distance / Self.nearFrames))
    return min(Self.firstGain, near + (far - near) * farPart)
  }

  /// Returns the bandwidth with which the ratio follows its target, in radians per second.
  @_noLocks
  private func bandwidth(gain: Double) -> Double {
    let far = abs(wanted - ratio) / (nominalRatio * Self.farRatio)
    return min(
      Self.maximumBandwidth, max(Self.lockedBandwidth * (1 + far), Self.bandwidthPerGain * gain))
  }

  /// Sets the delay from input to output to `seconds` from now on.
  @_noLocks
  public mutating func hold(delaySeconds seconds: Double) {
    delaySeconds = seconds
  }

  /// Clears the error because the converter was moved to its correct position.
  @_noLocks
  public mutating func settle() {
    errorFrames = 0
    smoothed = 0
  }
}
