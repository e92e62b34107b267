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
    if channelCount == 1 || channelCount == 2 || channelCount == 4 {
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

  /// Four samples at a time, each lane always the same channel; returns how many samples it took.
  @_noLocks
  private func measureVectors(_ count: Int, into levels: inout SampleBuffer) -> Int {
    let whole = count & ~3
    var peak = SIMD4<Float>(repeating: 0)
    var sum = SIMD4<Float>(repeating: 0)
    var index = 0
    while index < whole {
      let samples = SIMD4(base[index], base[index &+ 1], base[index &+ 2], base[index &+ 3])
      let negated = 0 - samples
      peak.replace(with: samples, where: samples .> peak)
      peak.replace(with: negated, where: negated .> peak)
      sum += samples * samples
      index &+= 4
    }
    var lane = 0
    while lane < 4 {
      let channel = lane % channelCount
      levels.base[channel] = max(levels.base[channel], peak[lane])
      levels.base[channelCount &+ channel] += sum[lane]
      lane &+= 1
    }
    return whole
  }
}
