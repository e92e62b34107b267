// Audio thread.

/// How loud frames are.
extension SampleBuffer {
  /// Raises `levels` by the first `frames` frames: its first `channelCount` samples are each
  /// channel's highest magnitude so far, the next `channelCount` each channel's sum of squares.
  @_noLocks
  public func measure(frames: Int, into levels: inout SampleBuffer) {
    precondition(levels.sampleCount >= 2 &* channelCount)
    let count = sampleCount(of: frames)
    var done = 0
    if channelCount == 1 || channelCount == 2 || channelCount == 4 || channelCount == 8 {
      done = measureVectors(count, into: &levels)
    }
    var channel = done % max(1, channelCount)
    while done < count {
      let sample = base[done]
      levels.base[channel] = max(levels.base[channel], abs(sample))
      levels.base[channelCount &+ channel] += sample * sample
      channel = channel &+ 1 == channelCount ? 0 : channel &+ 1
      done &+= 1
    }
  }

  /// The eight samples from the one of that index on.
  @_noLocks @inline(__always)
  func eightSamples(at index: Int) -> SIMD8<Float> {
    UnsafeRawPointer(base + index).loadUnaligned(as: SIMD8<Float>.self)
  }

  /// Samples without their signs.
  @_noLocks @inline(__always)
  static func magnitudes(_ samples: SIMD8<Float>) -> SIMD8<Float> {
    let magnitudeBits = SIMD8<UInt32>(repeating: 0x7FFF_FFFF)
    return unsafeBitCast(
      unsafeBitCast(samples, to: SIMD8<UInt32>.self) & magnitudeBits, to: SIMD8<Float>.self)
  }

  /// Eight samples at a time, each lane always the same channel; returns how many samples it took.
  @_noLocks
  private func measureVectors(_ count: Int, into levels: inout SampleBuffer) -> Int {
    let whole = count & ~7
    var peak = SIMD8<Float>(repeating: 0)
    var sum = SIMD8<Float>(repeating: 0)
    var index = 0
    while index < whole {
      let samples = eightSamples(at: index)
      let magnitude = Self.magnitudes(samples)
      // In this order of operands a maximum is one instruction.
      peak = peak.replacing(with: magnitude, where: magnitude .> peak)
      sum += samples * samples
      index &+= 8
    }
    if channelCount == 2 {
      // Halves upon halves: two vectors of two remain, of the left and the right.
      let halfPeak = peak.lowHalf.replacing(
        with: peak.highHalf, where: peak.highHalf .> peak.lowHalf)
      let pairPeak = halfPeak.lowHalf.replacing(
        with: halfPeak.highHalf, where: halfPeak.highHalf .> halfPeak.lowHalf)
      let halfSum = sum.lowHalf + sum.highHalf
      let pairSum = halfSum.lowHalf + halfSum.highHalf
      if pairPeak[0] > levels.base[0] { levels.base[0] = pairPeak[0] }
      if pairPeak[1] > levels.base[1] { levels.base[1] = pairPeak[1] }
      levels.base[2] += pairSum[0]
      levels.base[3] += pairSum[1]
      return whole
    }
    var lane = 0
    while lane < 8 {
      let channel = lane & (channelCount &- 1)
      levels.base[channel] = max(levels.base[channel], peak[lane])
      levels.base[channelCount &+ channel] += sum[lane]
      lane &+= 1
    }
    return whole
  }
}
