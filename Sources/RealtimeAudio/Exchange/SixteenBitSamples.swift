// Audio thread.
import CVectors

/// Samples as 16-bit integers in native byte order; full scale is 32,768. Samples are rounded to
/// the nearest integer, and halfway cases to the even one. Samples beyond full scale become the
/// highest or the lowest integer, and NaN becomes zero.
package enum SixteenBitSamples {
  /// Converts `count` samples from `source` to integers in `target`.
  @_noLocks
  package static func encode(
    _ source: UnsafePointer<Float>, into target: UnsafeMutablePointer<Int16>, count: Int
  ) {
    _ = vectors_encode16(target, source, count)
  }

  /// Converts `count` integers from `source` to samples in `target`.
  @_noLocks
  package static func decode(
    _ source: UnsafePointer<Int16>, into target: UnsafeMutablePointer<Float>, count: Int
  ) {
    vectors_decode16(target, source, count)
  }
}
