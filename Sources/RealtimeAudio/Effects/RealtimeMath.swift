// Audio thread.
import CRealtime

/// Functions of the C library that may be called on the audio thread, from functions marked
/// `@_noLocks`.
///
/// They do not lock, allocate or call the kernel. `CRealtime.h` lists the sources that were read
/// and the measured times.
///
/// ```swift
/// let sample = RealtimeMath.sin(Float.pi / 2)
/// precondition(abs(sample - 1) < 1e-6)
/// ```
public enum RealtimeMath {
  /// Returns the sine of an angle in radians. Any thread.
  @_noLocks
  public static func sin(_ x: Float) -> Float { realtime_sinf(x) }

  /// Returns the cosine of an angle in radians. Any thread.
  @_noLocks
  public static func cos(_ x: Float) -> Float { realtime_cosf(x) }

  /// Returns e to the power of `x`. Any thread.
  @_noLocks
  public static func exp(_ x: Float) -> Float { realtime_expf(x) }

  /// Returns the natural logarithm; minus infinity for 0, NaN below 0. Any thread.
  @_noLocks
  public static func log(_ x: Float) -> Float { realtime_logf(x) }

  /// Returns the hyperbolic tangent: a soft saturation from -1 to 1. Any thread.
  @_noLocks
  public static func tanh(_ x: Float) -> Float { realtime_tanhf(x) }

  /// Returns the square root; NaN below 0. Any thread.
  @_noLocks
  public static func sqrt(_ x: Float) -> Float { realtime_sqrtf(x) }

  /// Returns `base` to the power of `exponent`. Any thread.
  @_noLocks
  public static func pow(_ base: Float, _ exponent: Float) -> Float {
    realtime_powf(base, exponent)
  }

  /// Returns the sine of an angle in radians. Any thread.
  @_noLocks
  public static func sin(_ x: Double) -> Double { realtime_sin(x) }

  /// Returns the cosine of an angle in radians. Any thread.
  @_noLocks
  public static func cos(_ x: Double) -> Double { realtime_cos(x) }

  /// Returns e to the power of `x`. Any thread.
  @_noLocks
  public static func exp(_ x: Double) -> Double { realtime_exp(x) }

  /// Returns the natural logarithm; minus infinity for 0, NaN below 0. Any thread.
  @_noLocks
  public static func log(_ x: Double) -> Double { realtime_log(x) }

  /// Returns the hyperbolic tangent: a soft saturation from -1 to 1. Any thread.
  @_noLocks
  public static func tanh(_ x: Double) -> Double { realtime_tanh(x) }

  /// Returns the square root; NaN below 0. Any thread.
  @_noLocks
  public static func sqrt(_ x: Double) -> Double { realtime_sqrt(x) }

  /// Returns `base` to the power of `exponent`. Any thread.
  @_noLocks
  public static func pow(_ base: Double, _ exponent: Double) -> Double {
    realtime_pow(base, exponent)
  }

  /// Calls each function once, so that in a program with lazy binding all of them are bound now and
  /// not during a cycle.
  static func bind() {
    // The compiler cannot predict this value; otherwise it would remove the calls.
    let x = Double(HostClock.nanoseconds % 2) * 0.25 + 0.5
    let y = Float(x)
    let singles = sin(y) + cos(y) + exp(y) + log(y) + tanh(y) + sqrt(y) + pow(y, y)
    let doubles = sin(x) + cos(x) + exp(x) + log(x) + tanh(x) + sqrt(x) + pow(x, x)
    if doubles + Double(singles) > 1000 { HostClock.pause(milliseconds: 0) }
  }
}
