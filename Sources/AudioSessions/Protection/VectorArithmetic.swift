// Audio thread.

import CVectors

// Chosen before the standard library's operators, which work lane by lane: where an expression has
// many vectors, the optimiser mixes their lanes up when it puts them together again.

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

  /// The lower of each two; of what is no number the first.
  @_noLocks @inline(__always)
  static func lower(_ first: SIMD4<Float>, _ second: SIMD4<Float>) -> SIMD4<Float> {
    // In this order of operands a minimum is one instruction.
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
