// Audio thread.

/// Sums of weighted samples, eight at a time, in a fixed order: the same samples always give the
/// same sum.
enum InnerProduct {
  /// The sum of `count` products; `count` is a multiple of 8.
  @_noLocks
  static func sum(
    _ weights: UnsafePointer<Float>, _ samples: UnsafePointer<Float>, count: Int
  ) -> Float {
    var sum = SIMD8<Float>(repeating: 0)
    var index = 0
    while index < count {
      sum += eight(weights + index) * eight(samples + index)
      index &+= 8
    }
    return total(sum)
  }

  /// Two sums under the same weights, which are loaded once.
  @_noLocks
  static func sums(
    _ weights: UnsafePointer<Float>, _ first: UnsafePointer<Float>,
    _ second: UnsafePointer<Float>, count: Int
  ) -> (Float, Float) {
    var firstSum = SIMD8<Float>(repeating: 0)
    var secondSum = SIMD8<Float>(repeating: 0)
    var index = 0
    while index < count {
      let weight = eight(weights + index)
      firstSum += weight * eight(first + index)
      secondSum += weight * eight(second + index)
      index &+= 8
    }
    return (total(firstSum), total(secondSum))
  }

  /// Eight samples, wherever they lie.
  @_noLocks
  static func eight(_ samples: UnsafePointer<Float>) -> SIMD8<Float> {
    UnsafeRawPointer(samples).loadUnaligned(as: SIMD8<Float>.self)
  }

  @_noLocks
  private static func total(_ sums: SIMD8<Float>) -> Float {
    let four = sums.lowHalf + sums.highHalf
    let two = four.lowHalf + four.highHalf
    return two[0] + two[1]
  }
}
