// Audio thread.

/// The assignment of the four lanes of a vector to peaks: one, two or four channels side by side.
struct PeakLanes: BitwiseCopyable {
  /// The number of peaks: 1, 2 or 4.
  let peakCount: Int

  /// Returns a vector in which each lane is the highest of the lanes that belong to the same peak.
  @_noLocks @inline(__always)
  func folded(_ lanes: SIMD4<Float>) -> SIMD4<Float> {
    if peakCount == 4 { return lanes }
    let pairs = Self.higher(lanes, SIMD4(lowHalf: lanes.highHalf, highHalf: lanes.lowHalf))
    if peakCount == 2 { return pairs }
    return SIMD4(repeating: max(pairs[0], pairs[1]))
  }

  /// Returns the highest of the four lanes.
  @_noLocks @inline(__always)
  static func highest(_ lanes: SIMD4<Float>) -> Float {
    max(max(lanes[0], lanes[1]), max(lanes[2], lanes[3]))
  }

  /// Returns the higher value of each lane; the first one if one of them is NaN.
  @_noLocks @inline(__always)
  static func higher(_ first: SIMD4<Float>, _ second: SIMD4<Float>) -> SIMD4<Float> {
    // With this order of operands a maximum is one instruction.
    first.replacing(with: second, where: second .> first)
  }

  /// Returns the magnitudes of the samples.
  @_noLocks @inline(__always)
  static func magnitudes(_ samples: SIMD4<Float>) -> SIMD4<Float> {
    unsafeBitCast(
      unsafeBitCast(samples, to: SIMD4<UInt32>.self) & SIMD4(repeating: 0x7FFF_FFFF),
      to: SIMD4<Float>.self)
  }

  /// Returns a mask with all bits set in the lanes in which the magnitude is above `minimum`.
  @_noLocks @inline(__always)
  static func over(_ minimum: SIMD4<Float>, _ samples: SIMD4<Float>) -> SIMD4<UInt32> {
    unsafeBitCast(magnitudes(samples) .> minimum, to: SIMD4<UInt32>.self)
  }

  /// Returns whether one of the four lanes is not zero.
  @_noLocks @inline(__always)
  static func isAny(_ masks: SIMD4<UInt32>) -> Bool {
    let halves = unsafeBitCast(masks, to: SIMD2<UInt64>.self)
    return halves[0] | halves[1] != 0
  }
}
