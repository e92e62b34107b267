// Audio thread.
import CVectors

/// Samples as integers of 16 bits in this machine's order of bytes; full scale is 32,768. The
/// integer is the nearest, of two the even one; what lies beyond full scale becomes the highest or
/// the lowest, and what is no number zero.
package enum SixteenBitSamples {
  /// Puts the `count` samples from `source` on into `target`.
  @_noLocks
  package static func encode(
    _ source: UnsafePointer<Float>, into target: UnsafeMutablePointer<Int16>, count: Int
  ) {
    _ = vectors_encode16(target, source, count)
  }

  /// Makes samples of the `count` integers from `source` on.
  @_noLocks
  package static func decode(
    _ source: UnsafePointer<Int16>, into target: UnsafeMutablePointer<Float>, count: Int
  ) {
    vectors_decode16(target, source, count)
  }
}
