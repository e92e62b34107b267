// Audio thread.
import CRealtime

/// Functions of the C library that may be called on the audio thread, from functions marked
/// `@_noLocks`.
///
/// They take no lock, allocate nothing and ask nothing of the kernel; which source was read and how
/// long each takes is told in `CRealtime.h`.
///
/// ```swift
/// let sample = RealtimeMath.sin(Float.pi / 2)
/// precondition(abs(sample - 1) < 1e-6)
/// ```
public enum RealtimeMath {
  /// The sine of an angle in radians. Any thread.
  @_noLocks
  public static func sin(_ x: Float) -> Float { realtime_sinf(x) }

  /// The cosine of an angle in radians. Any thread.
  @_noLocks
  public static func cos(_ x: Float) -> Float { realtime_cosf(x) }

  /// e to the power of `x`. Any thread.
  @_noLocks
  public static func exp(_ x: Float) -> Float { realtime_expf(x) }

  /// The natural logarithm; minus infinity for 0, not a number below. Any thread.
  @_noLocks
  public static func log(_ x: Float) -> Float { realtime_logf(x) }

  /// The hyperbolic tangent: a soft saturation from -1 to 1. Any thread.
  @_noLocks
  public static func tanh(_ x: Float) -> Float { realtime_tanhf(x) }

  /// The square root; not a number below 0. Any thread.
  @_noLocks
  public static func sqrt(_ x: Float) -> Float { realtime_sqrtf(x) }

  /// `base` to the power of `exponent`. Any thread.
  @_noLocks
  public static func pow(_ base: Float, _ exponent: Float) -> Float {
    realtime_powf(base, exponent)
  }

  /// The sine of an angle in radians. Any thread.
  @_noLocks
  public static func sin(_ x: Double) -> Double { realtime_sin(x) }

  /// The cosine of an angle in radians. Any thread.
  @_noLocks
  public static func cos(_ x: Double) -> Double { realtime_cos(x) }

  /// e to the power of `x`. Any thread.
  @_noLocks
  public static func exp(_ x: Double) -> Double { realtime_exp(x) }

  /// The natural logarithm; minus infinity for 0, not a number below. Any thread.
  @_noLocks
  public static func log(_ x: Double) -> Double { realtime_log(x) }

  /// The hyperbolic tangent: a soft saturation from -1 to 1. Any thread.
  @_noLocks
  public static func tanh(_ x: Double) -> Double { realtime_tanh(x) }

  /// The square root; not a number below 0. Any thread.
  @_noLocks
  public static func sqrt(_ x: Double) -> Double { realtime_sqrt(x) }

  /// `base` to the power of `exponent`. Any thread.
  @_noLocks
  public static func pow(_ base: Double, _ exponent: Double) -> Double {
    realtime_pow(base, exponent)
  }

  /// Calls each once, so that a program that binds functions at their first call does so now and
  /// not during a cycle.
  static func bind() {
    // A number that the compiler cannot foresee, or it would leave the calls out.
    let x = Double(HostClock.nanoseconds % 2) * 0.25 + 0.5
    let y = Float(x)
    let singles = sin(y) + cos(y) + exp(y) + log(y) + tanh(y) + sqrt(y) + pow(y, y)
    let doubles = sin(x) + cos(x) + exp(x) + log(x) + tanh(x) + sqrt(x) + pow(x, x)
    if doubles + Double(singles) > 1000 { HostClock.pause(milliseconds: 0) }
  }
}
