// Audio thread.

/// Finds the ratio at which frames of one clock become frames of another so that the delay between
/// them stays what it is meant to be.
///
/// The two clocks say where the converter should be; the ratio is that of their rates, and what the
/// converter is off is taken back at a rate that falls from about half a hertz, right after a
/// start, to a hundredth: fast first, then too slow to be heard. The ratio and its slope change
/// without a jump: the ratio goes through a low-pass filter (`RatioSmoother`) that is as fast as
/// the error is taken back, and slow once the clocks are locked. It changes by no more than `slew`
/// a second and stays within `limit` of its nominal value.
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
  /// Largest deviation from the nominal ratio, as a part of it: 0.006 is 6,000 ppm.
  public static let limit = 0.006
  /// Largest change of the ratio in a second, as a part of its nominal value.
  private static let slew = 0.05
  /// The bandwidth of the ratio, in radians a second, when the clocks are locked, for each unit of
  /// gain before that, and at most. The estimates of locked clocks change in small steps: at this
  /// bandwidth such a step leaves less than -148 dB beside a sine of 10 kHz (`ClockTrial`, the
  /// pitch's course in a quarter second being one of degree 12).
  private static let lockedBandwidth = 20.0
  private static let bandwidthPerGain = 40.0
  private static let mostBandwidth = 120.0
  /// At this distance between the ratio and the wanted one, as a part of it, the bandwidth of
  /// locked clocks is doubled.
  private static let farRatio = 20e-6
  /// How fast an error is taken back, as a part of it a second: at first, and finally.
  private static let firstGain = 3.0
  private static let finalGain = 0.06
  /// The least for an error of a frame or more, the frames up to which it does not count, and how
  /// many times as much more such an error counts where a clock is hardly known.
  private static let farGain = 0.5
  private static let nearFrames = 0.5
  private static let startUpParts = 2.0
  /// How much faster than that the error itself is made smooth.
  private static let smoothing = 4.0

  /// Input frames for an output frame if both clocks were right.
  public let nominalRatio: Double
  /// Seconds from a frame's capture to its being played.
  public private(set) var delaySeconds: Double
  /// Input frames for an output frame, as last told.
  public private(set) var ratio: Double
  /// How far the converter was from where it should be when last asked, in output frames; more
  /// than 0 where the delay is too short.
  public private(set) var errorFrames = 0.0
  private var smoothed = 0.0
  /// What the ratio was last to become.
  private var wanted: Double
  private var smoother: RatioSmoother

  /// A control that keeps `delaySeconds` from input to output.
  @_noLocks
  public init(nominalRatio: Double, delaySeconds: Double) {
    self.nominalRatio = nominalRatio
    self.delaySeconds = delaySeconds
    ratio = nominalRatio
    wanted = nominalRatio
    smoother = RatioSmoother(nominalRatio)
  }

  /// By how many parts per million the input's clock runs faster than the output's, as estimated.
  @_noLocks
  public func driftPPM(
    _ input: ClockEstimate, _ output: ClockEstimate, at now: UInt64
  ) -> Double {
    let measured = input.framesPerSecond(at: now) / output.framesPerSecond(at: now)
    return (measured / nominalRatio - 1) * 1e6
  }

  /// The input's position that must be heard at output frame `frame`, by both clocks' estimates at
  /// `now`.
  @_noLocks
  public func target(
    _ input: ClockEstimate, _ output: ClockEstimate, frame: Double, at now: UInt64
  ) -> Double {
    let ahead = (frame - output.frames(at: now)) / output.framesPerSecond(at: now)
    return input.frames(at: now) + input.framesPerSecond(at: now) * (ahead - delaySeconds)
  }

  /// The ratio for the next `frames` output frames, of which the first would lie `error` input
  /// frames behind its `target`.
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
    let least = nominalRatio * (1 - Self.limit)
    let most = nominalRatio * (1 + Self.limit)
    let bandwidth = bandwidth(gain: gain)
    // What is aimed at is what will be right when the smoothed ratio comes to it.
    let then = now &+ UInt64(clamping: RatioSmoother.delaySeconds(bandwidth: bandwidth) * 1e9)
    wanted =
      (input.framesPerSecond(at: then) - gain * smoothed) / output.framesPerSecond(at: then)
    smoother.follow(max(least, min(most, wanted)), seconds: seconds, bandwidth: bandwidth)
    let step = seconds * nominalRatio * Self.slew
    let slewed = max(ratio - step, min(ratio + step, smoother.value))
    ratio = max(least, min(most, slewed))
    return ratio
  }

  /// Control gain, some time after something has begun: the part of an error that is taken back in
  /// a second.
  private struct GainSchedule: BitwiseCopyable {
    /// Where little is known yet.
    var gain: Double
    /// 1 in the first seconds, and less and less from then on.
    var early: Double
    /// Where the error is below a frame.
    var near: Double { @_noLocks get { gain * (early * early * early * early) } }

    @_noLocks
    init(seconds: Double) {
      gain = 3 / max(seconds, 0.1)
      early = min(1, gain)
    }
  }

  /// The part of the error that is taken back in a second, some time after the younger clock has
  /// begun, and after a `change` of a rate.
  ///
  /// An error of nearly a frame matters more than the ratio. One of less, taken back late, would
  /// bend the ratio when it should be right already. Between the two the gain changes evenly: a
  /// gain that jumps bends the ratio too.
  @_noLocks
  private func gain(_ schedule: GainSchedule, _ change: GainSchedule) -> Double {
    let near = max(Self.finalGain, schedule.near)
    let far = max(Self.farGain, change.gain * (1 + Self.startUpParts * change.early * change.early))
    let distance = abs(smoothed) / nominalRatio - Self.nearFrames
    let farPart = max(0, min(1, distance / Self.nearFrames))
    return min(Self.firstGain, near + (far - near) * farPart)
  }

  /// The bandwidth with which the ratio follows what is wanted, in radians a second.
  @_noLocks
  private func bandwidth(gain: Double) -> Double {
    let far = abs(wanted - ratio) / (nominalRatio * Self.farRatio)
    return min(
      Self.mostBandwidth, max(Self.lockedBandwidth * (1 + far), Self.bandwidthPerGain * gain))
  }

  /// Keeps `seconds` from input to output from now on.
  @_noLocks
  public mutating func hold(delaySeconds seconds: Double) {
    delaySeconds = seconds
  }

  /// The converter was put where it should be.
  @_noLocks
  public mutating func settle() {
    errorFrames = 0
    smoothed = 0
  }
}
