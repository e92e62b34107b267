// Audio thread.

/// Finds the ratio at which frames of one clock become frames of another so that the delay between
/// them stays what it is meant to be.
///
/// The two clocks say where the converter should be; the ratio is that of their rates, and what the
/// converter is off is taken back at a rate that falls from about half a hertz, right after a
/// start, to a hundredth: fast first, then too slow to be heard. The ratio moves evenly and not by
/// more than `slew` a second, and stays within `limit` of its nominal value.
///
/// ```swift
/// var input = FilteredClock(framesPerSecond: 48000)
/// var output = FilteredClock(framesPerSecond: 48000)
/// for tenth in 0..<600 {
///   let now = UInt64(tenth) * 100_000_000
///   input.take(ClockReading(frames: Int(Double(tenth) * 4800.24), nanoseconds: now))  // 50 ppm fast
///   output.take(ClockReading(frames: tenth * 4800, nanoseconds: now))
/// }
/// let control = DriftControl(nominalRatio: 1, delaySeconds: 0.01)
/// let drift = control.driftPPM(input, output, at: 59_900_000_000)
/// precondition(abs(drift - 50) < 5)
/// ```
public struct DriftControl: BitwiseCopyable, Sendable {
  /// By how much the ratio may differ from the nominal one.
  public static let limit = 0.006
  /// By how much the ratio may change in a second.
  private static let slew = 0.05
  /// The part of its distance to the wanted ratio that the ratio moves in a second: a ratio that
  /// jumps is heard as a click.
  private static let bend = 30.0
  /// How fast an error is taken back, as a part of it a second: at first, and finally.
  private static let firstGain = 3.0
  private static let finalGain = 0.06
  /// The least for an error of nearly a frame or more.
  private static let farGain = 0.5
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

  /// A control that keeps `delaySeconds` from input to output.
  @_noLocks
  public init(nominalRatio: Double, delaySeconds: Double) {
    self.nominalRatio = nominalRatio
    self.delaySeconds = delaySeconds
    ratio = nominalRatio
  }

  /// By how many parts per million the input's clock runs faster than the output's, as estimated.
  @_noLocks
  public func driftPPM(
    _ input: FilteredClock, _ output: FilteredClock, at now: UInt64
  ) -> Double {
    let measured = input.framesPerSecond(at: now) / output.framesPerSecond(at: now)
    return (measured / nominalRatio - 1) * 1e6
  }

  /// The input's position that must be heard at output frame `frame`, by both clocks' estimates at
  /// `now`.
  @_noLocks
  public func target(
    _ input: FilteredClock, _ output: FilteredClock, frame: Double, at now: UInt64
  ) -> Double {
    let ahead = (frame - output.frames(at: now)) / output.framesPerSecond(at: now)
    return input.frames(at: now) + input.framesPerSecond(at: now) * (ahead - delaySeconds)
  }

  /// The ratio for the next `frames` output frames, of which the first is number `frame` and
  /// would lie at `position` of the input.
  @_noLocks
  public mutating func steer(
    _ input: FilteredClock, _ output: FilteredClock, position: Double, frame: Double,
    frames: Int, at now: UInt64
  ) -> Double {
    let error = position - target(input, output, frame: frame, at: now)
    errorFrames = error / nominalRatio
    let age = min(input.age(at: now), output.age(at: now))
    // An error of nearly a frame matters more than the ratio. One of less, taken back late, would
    // bend the ratio when it should be right already.
    let isFar = abs(smoothed) > 0.75 * nominalRatio
    let haste = 3 / max(age, 0.1)
    let early = isFar ? 1 : min(1, haste)
    let gain = max(
      isFar ? Self.farGain : Self.finalGain,
      min(Self.firstGain, haste * (early * early * early * early)))
    let pace = output.framesPerSecond(at: now)
    let seconds = Double(frames) / pace
    smoothed += (error - smoothed) * min(1, seconds * Self.smoothing * gain)
    let wanted = (input.framesPerSecond(at: now) - gain * smoothed) / pace
    let bend = abs(wanted - ratio) * Self.bend + nominalRatio * 1e-6
    let step = seconds * min(nominalRatio * Self.slew, bend)
    let slewed = max(ratio - step, min(ratio + step, wanted))
    ratio = max(
      nominalRatio * (1 - Self.limit), min(nominalRatio * (1 + Self.limit), slewed))
    return ratio
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
