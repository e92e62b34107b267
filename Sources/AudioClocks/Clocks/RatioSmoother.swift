// Audio thread.

/// A low-pass filter of fourth order without overshoot, whose bandwidth may change from one value
/// to the next. It consists of two critically damped sections of second order in series, with all
/// four poles at the same place.
///
/// With a filter of first order, the slope of a ratio jumps whenever the wanted ratio does, and
/// each such jump is a short noise beside a high tone. After this filter, the ratio and its first
/// three derivatives are continuous. A step arrives after `delaySeconds`, the group delay at low
/// frequencies.
///
/// A section solves x'' = ω² (w - x) - 2ω x' for a constant w within each interval. Its solution is
/// x - w = (a + (b + ω a) t) exp(-ωt) with the distance a and the slope b at the beginning of the
/// interval (see any textbook on the damped oscillator). The exponential is replaced by the inverse
/// of its series up to the third power of ωt, which is positive and falls at any ωt, so the filter
/// is stable for long intervals too. The deviation is 1 ‰ at ωt = 0.4.
struct RatioSmoother: BitwiseCopyable, Sendable {
  /// A critically damped section of second order.
  private struct Section: BitwiseCopyable {
    var value: Double
    var slope = 0.0

    /// Moves towards `target` for `seconds`. `bandwidth` is ω.
    @_noLocks
    mutating func move(to target: Double, seconds: Double, bandwidth: Double) {
      let angle = bandwidth * seconds
      let decay = 1 / (1 + angle * (1 + angle * (0.5 + angle / 6)))
      let distance = value - target
      let rise = (slope + bandwidth * distance) * seconds
      value = target + (distance + rise) * decay
      slope = (slope - bandwidth * rise) * decay
    }
  }

  private var first: Section
  private var second: Section

  /// Creates a filter at rest at `value`.
  @_noLocks
  init(_ value: Double) {
    first = Section(value: value)
    second = Section(value: value)
  }

  /// The current output.
  var value: Double {
    @_noLocks get { second.value }
  }

  /// Returns the seconds by which a filter of `bandwidth` radians per second lags an evenly
  /// changing input.
  @_noLocks
  static func delaySeconds(bandwidth: Double) -> Double { 4 / bandwidth }

  /// Follows `target` for the next `seconds`, with poles at `bandwidth` radians per second.
  @_noLocks
  mutating func follow(_ target: Double, seconds: Double, bandwidth: Double) {
    first.move(to: target, seconds: seconds, bandwidth: bandwidth)
    second.move(to: first.value, seconds: seconds, bandwidth: bandwidth)
  }
}
