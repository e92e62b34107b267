// Audio thread.

/// Sums of samples under the weights of a `WeightRow`, eight at a time, in a fixed order: the same
/// samples always give the same sum.
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
    let middle = exactEight(weights + count)
    return total(sum, middle * exactEight(samples + WeightRow.middle(weights: count)))
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
    let middle = exactEight(weights + count)
    let place = WeightRow.middle(weights: count)
    return (
      total(firstSum, middle * exactEight(first + place)),
      total(secondSum, middle * exactEight(second + place))
    )
  }

  /// Eight samples, wherever they lie.
  @_noLocks
  static func eight(_ samples: UnsafePointer<Float>) -> SIMD8<Float> {
    UnsafeRawPointer(samples).loadUnaligned(as: SIMD8<Float>.self)
  }

  /// Eight samples to be calculated with to 53 bits: the product of two of them is exact.
  @_noLocks
  static func exactEight(_ samples: UnsafePointer<Float>) -> SIMD8<Double> {
    exact(eight(samples))
  }

  /// One by one: the initializer of the standard library is a call.
  @_noLocks
  static func exact(_ samples: SIMD8<Float>) -> SIMD8<Double> {
    SIMD8(
      Double(samples[0]), Double(samples[1]), Double(samples[2]), Double(samples[3]),
      Double(samples[4]), Double(samples[5]), Double(samples[6]), Double(samples[7]))
  }

  /// Rounded to 24 bits.
  @_noLocks
  static func rounded(_ samples: SIMD8<Double>) -> SIMD8<Float> {
    SIMD8(
      Float(samples[0]), Float(samples[1]), Float(samples[2]), Float(samples[3]),
      Float(samples[4]), Float(samples[5]), Float(samples[6]), Float(samples[7]))
  }

  @_noLocks
  private static func total(_ sums: SIMD8<Float>, _ middle: SIMD8<Double>) -> Float {
    let four = sums.lowHalf + sums.highHalf
    let two = four.lowHalf + four.highHalf
    let fourExact = middle.lowHalf + middle.highHalf
    let twoExact = fourExact.lowHalf + fourExact.highHalf
    return Float(Double(two[0] + two[1]) + (twoExact[0] + twoExact[1]))
  }
}
