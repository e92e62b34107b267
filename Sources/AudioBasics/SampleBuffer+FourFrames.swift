// Audio thread.

/// Four frames at a time, of buffers of one or two channels, a lane for each.
extension SampleBuffer {
  /// The highest magnitude of each of four frames from `first` on, in a buffer of one or two
  /// channels.
  @_noLocks @inlinable @inline(__always)
  package func peaksOfFourFrames(from first: Int) -> SIMD4<Float> {
    requireFrames(from: first, 4)
    let samples = UnsafeRawPointer(base + first &* channelCount)
    let four = Self.magnitudes(samples.loadUnaligned(as: SIMD4<Float>.self))
    if channelCount == 1 { return four }
    requirement(channelCount == 2, "The buffer has another number of channels.")
    let next = Self.magnitudes(samples.loadUnaligned(fromByteOffset: 16, as: SIMD4<Float>.self))
    let left = SIMD4(lowHalf: four.evenHalf, highHalf: next.evenHalf)
    let right = SIMD4(lowHalf: four.oddHalf, highHalf: next.oddHalf)
    return left.replacing(with: right, where: right .> left)
  }

  /// Multiplies each of four frames from `first` on by its gain and keeps it between -`limit` and
  /// `limit`, in a buffer of one or two channels.
  @_noLocks @inlinable @inline(__always)
  package mutating func scaleFourFrames(
    from first: Int, by gains: SIMD4<Float>, within limit: Float
  ) {
    requireFrames(from: first, 4)
    let samples = UnsafeMutableRawPointer(base + first &* channelCount)
    let limits = SIMD4(repeating: limit)
    if channelCount == 1 {
      let four = samples.loadUnaligned(as: SIMD4<Float>.self) * gains
      samples.storeBytes(of: Self.bounded(four, by: limits), as: SIMD4<Float>.self)
      return
    }
    requirement(channelCount == 2, "The buffer has another number of channels.")
    let four =
      samples.loadUnaligned(as: SIMD4<Float>.self)
      * SIMD4(gains[0], gains[0], gains[1], gains[1])
    let next =
      samples.loadUnaligned(fromByteOffset: 16, as: SIMD4<Float>.self)
      * SIMD4(gains[2], gains[2], gains[3], gains[3])
    samples.storeBytes(of: Self.bounded(four, by: limits), as: SIMD4<Float>.self)
    samples.storeBytes(
      of: Self.bounded(next, by: limits), toByteOffset: 16, as: SIMD4<Float>.self)
  }

  /// Samples between -`limits` and `limits`.
  @_noLocks @inlinable @inline(__always)
  static func bounded(_ samples: SIMD4<Float>, by limits: SIMD4<Float>) -> SIMD4<Float> {
    let lowered = samples.replacing(with: limits, where: samples .> limits)
    return lowered.replacing(with: -limits, where: lowered .< -limits)
  }

  /// How many are true.
  @_noLocks @inlinable @inline(__always)
  package static func count(_ mask: SIMDMask<SIMD4<Int32>>) -> Int {
    count(ones(mask))
  }
}
