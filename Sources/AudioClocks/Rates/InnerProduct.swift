// Audio thread.

import CVectors

/// Sums of samples multiplied by the weights of a `WeightRow`, eight at a time, in a fixed order:
/// the same samples always give the same sum.
enum InnerProduct {
  /// Returns the sum of `count` products. `count` is a multiple of 8.
  @_noLocks
  static func sum(
    _ weights: UnsafePointer<Float>, _ samples: UnsafePointer<Float>, count: Int
  ) -> Float {
    vectors_inner_product(weights, samples, count)
  }

  /// Returns two sums with the same weights, which are loaded once.
  @_noLocks
  static func sums(
    _ weights: UnsafePointer<Float>, _ first: UnsafePointer<Float>,
    _ second: UnsafePointer<Float>, count: Int
  ) -> (Float, Float) {
    var sums: (Float, Float) = (0, 0)
    vectors_inner_products(weights, first, second, count, &sums.0, &sums.1)
    return sums
  }

  /// Loads eight samples without an alignment requirement.
  @_noLocks
  static func eight(_ samples: UnsafePointer<Float>) -> SIMD8<Float> {
    UnsafeRawPointer(samples).loadUnaligned(as: SIMD8<Float>.self)
  }

  /// Converts to `Double` one by one, because the initializer of the standard library is a function
  /// call.
  @_noLocks
  static func exact(_ samples: SIMD8<Float>) -> SIMD8<Double> {
    SIMD8(
      Double(samples[0]), Double(samples[1]), Double(samples[2]), Double(samples[3]),
      Double(samples[4]), Double(samples[5]), Double(samples[6]), Double(samples[7]))
  }

  /// Rounds to 24 bits.
  @_noLocks
  static func rounded(_ samples: SIMD8<Double>) -> SIMD8<Float> {
    SIMD8(
      Float(samples[0]), Float(samples[1]), Float(samples[2]), Float(samples[3]),
      Float(samples[4]), Float(samples[5]), Float(samples[6]), Float(samples[7]))
  }
}
