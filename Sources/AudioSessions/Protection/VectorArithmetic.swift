// Audio thread.

import CVectors

// These operators are preferred to those of the standard library, which work lane by lane: in an
// expression with many vectors, the optimiser shuffles the lanes of the latter when it combines
// them into vectors again.

extension SIMD4<Float> {
  @_noLocks @inline(__always)
  static func + (left: SIMD4<Float>, right: SIMD4<Float>) -> SIMD4<Float> {
    float4_sum(left, right)
  }

  @_noLocks @inline(__always)
  static func - (left: SIMD4<Float>, right: SIMD4<Float>) -> SIMD4<Float> {
    float4_difference(left, right)
  }

  @_noLocks @inline(__always)
  static func * (left: SIMD4<Float>, right: SIMD4<Float>) -> SIMD4<Float> {
    float4_product(left, right)
  }

  @_noLocks @inline(__always)
  static func * (left: SIMD4<Float>, right: Float) -> SIMD4<Float> {
    float4_product(left, SIMD4<Float>(repeating: right))
  }

  @_noLocks @inline(__always)
  static func += (left: inout SIMD4<Float>, right: SIMD4<Float>) { left = float4_sum(left, right) }

  /// Returns the lower value of each pair, or the first one if a value is not a number (NaN).
  @_noLocks @inline(__always)
  static func lower(_ first: SIMD4<Float>, _ second: SIMD4<Float>) -> SIMD4<Float> {
    // With this order of operands a minimum is one instruction.
    first.replacing(with: second, where: second .< first)
  }
}

extension SIMD4<Double> {
  @_noLocks @inline(__always)
  static func + (left: SIMD4<Double>, right: SIMD4<Double>) -> SIMD4<Double> {
    double4_sum(left, right)
  }

  @_noLocks @inline(__always)
  static func - (left: SIMD4<Double>, right: SIMD4<Double>) -> SIMD4<Double> {
    double4_difference(left, right)
  }

  @_noLocks @inline(__always)
  static func * (left: SIMD4<Double>, right: SIMD4<Double>) -> SIMD4<Double> {
    double4_product(left, right)
  }

  @_noLocks @inline(__always)
  static func * (left: SIMD4<Double>, right: Double) -> SIMD4<Double> {
    double4_product(left, SIMD4<Double>(repeating: right))
  }

  @_noLocks @inline(__always)
  static func += (left: inout SIMD4<Double>, right: SIMD4<Double>) {
    left = double4_sum(left, right)
  }
}
