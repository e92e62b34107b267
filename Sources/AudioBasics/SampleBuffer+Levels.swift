// Audio thread.

import CVectors

/// Levels of frames: peaks, sums of squares, and samples that are NaN or infinite.
extension SampleBuffer {
  /// Updates `levels` with the first `frames` frames: the first `channelCount` samples of `levels`
  /// are the highest magnitudes of the channels so far, the next `channelCount` are the sums of
  /// squares of the channels. Returns the highest magnitude of these frames over all channels.
  @_noLocks @discardableResult
  public func measure(frames: Int, into levels: inout SampleBuffer) -> Float {
    requirement(
      levels.sampleCount >= 2 &* channelCount,
      "The buffer for levels needs one element for each channel.")
    let count = sampleCount(of: frames)
    var done = 0
    var highest: Float = 0
    if channelCount == 1 || channelCount == 2 || channelCount == 4 || channelCount == 8 {
      highest = measureVectors(count, into: &levels)
      done = count & ~7
    }
    var channel = done % max(1, channelCount)
    while done < count {
      let sample = base[done]
      let magnitude = abs(sample)
      if magnitude > highest { highest = magnitude }
      levels.base[channel] = max(levels.base[channel], magnitude)
      levels.base[channelCount &+ channel] += sample * sample
      channel = channel &+ 1 == channelCount ? 0 : channel &+ 1
      done &+= 1
    }
    return highest
  }

  /// Sets the samples in `frames` frames, starting at `first`, that are NaN or infinite to 0.
  /// Returns the number of these samples. All bits of their exponent are ones (IEEE 754): samples
  /// are checked one by one only if each of these bits is set in at least one sample, which never
  /// happens if all magnitudes are below 2.
  @_noLocks
  package mutating func silenceNonFinite(from first: Int = 0, frames: Int) -> Int {
    requireFrames(from: first, frames)
    let start = first &* channelCount
    let count = start &+ frames &* channelCount
    var set = SIMD8<UInt32>(repeating: 0)
    var done = start
    while done &+ 32 <= count {
      set |= eightPatterns(at: done)
      set |= eightPatterns(at: done &+ 8)
      set |= eightPatterns(at: done &+ 16)
      set |= eightPatterns(at: done &+ 24)
      done &+= 32
    }
    while done &+ 8 <= count {
      set |= eightPatterns(at: done)
      done &+= 8
    }
    let exponent = SIMD8<UInt32>(repeating: 0x7F80_0000)
    if any(set & exponent .== exponent) { done = start }
    var silenced = 0
    while done < count {
      if !base[done].isFinite {
        base[done] = 0
        silenced &+= 1
      }
      done &+= 1
    }
    return silenced
  }

  /// Returns the eight samples that start at `index`.
  @_noLocks @inline(__always)
  func eightSamples(at index: Int) -> SIMD8<Float> {
    UnsafeRawPointer(base + index).loadUnaligned(as: SIMD8<Float>.self)
  }

  /// Returns the bits of the eight samples that start at `index`.
  @_noLocks @inline(__always)
  private func eightPatterns(at index: Int) -> SIMD8<UInt32> {
    unsafeBitCast(eightSamples(at: index), to: SIMD8<UInt32>.self)
  }

  /// Returns the magnitudes of the samples.
  @_noLocks @inline(__always)
  static func magnitudes(_ samples: SIMD8<Float>) -> SIMD8<Float> {
    let magnitudeBits = SIMD8<UInt32>(repeating: 0x7FFF_FFFF)
    return unsafeBitCast(
      unsafeBitCast(samples, to: SIMD8<UInt32>.self) & magnitudeBits, to: SIMD8<Float>.self)
  }

  /// Measures as many of `count` samples as make whole vectors of eight. Each lane always belongs
  /// to the same channel. Returns the highest magnitude.
  @_noLocks
  private func measureVectors(_ count: Int, into levels: inout SampleBuffer) -> Float {
    let whole = count & ~7
    var peak = SIMD8<Float>(repeating: 0)
    var sum = SIMD8<Float>(repeating: 0)
    var index = 0
    while index < whole {
      let samples = eightSamples(at: index)
      let magnitude = Self.magnitudes(samples)
      // With this order of operands a maximum is one instruction.
      peak = peak.replacing(with: magnitude, where: magnitude .> peak)
      sum += samples * samples
      index &+= 8
    }
    if channelCount == 2 {
      // The vector is folded in halves twice until two lanes remain: left and right.
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
      return max(pairPeak[0], pairPeak[1])
    }
    var lane = 0
    while lane < 8 {
      let channel = lane & (channelCount &- 1)
      levels.base[channel] = max(levels.base[channel], peak[lane])
      levels.base[channelCount &+ channel] += sum[lane]
      lane &+= 1
    }
    return Self.highest(peak)
  }
}

/// Peaks of several frames; peak, sum and gain of a single frame.
extension SampleBuffer {
  /// Returns the highest magnitude of the first `frames` frames over all channels.
  @_noLocks
  public func peak(frames: Int) -> Float { peak(from: 0, frames: frames) }

  /// Returns the highest magnitude of `frames` frames, starting at `first`, over all channels.
  @_noLocks
  public func peak(from first: Int, frames: Int) -> Float {
    requireFrames(from: first, frames)
    return vectors_peak(base + first &* channelCount, frames &* channelCount)
  }

  /// Returns the highest magnitude of `frames` frames, starting at `first`, over all channels; NaN
  /// if a sample is NaN. It costs as much as `peak`.
  @_noLocks
  package func peakOrNaN(from first: Int = 0, frames: Int) -> Float {
    requireFrames(from: first, frames)
    return vectors_peak_or_nan(base + first &* channelCount, frames &* channelCount)
  }

  /// Returns the highest magnitudes of every fourth sample of `frames` frames, starting at `first`:
  /// lane n covers the samples whose index from `first` on is n modulo four.
  @_noLocks
  package func peaksOfFour(from first: Int, frames: Int) -> SIMD4<Float> {
    requireFrames(from: first, frames)
    return vectors_peaks_of_four(base + first &* channelCount, frames &* channelCount)
  }

  /// Returns the number of frames, among `frames` frames starting at `first`, with a sample whose
  /// magnitude is above `limit`.
  @_noLocks
  public func framesAbove(_ limit: Float, from first: Int, frames: Int) -> Int {
    requireFrames(from: first, frames)
    return vectors_frames_above(base + first &* channelCount, channelCount, frames, limit)
  }

  /// Returns the highest magnitudes of x[n - 1] - 2 x[n] + x[n + 1] within `frames` frames,
  /// starting at `first`, of every fourth sample, counted from the second frame on.
  @_noLocks
  package func secondDifferencesOfFour(from first: Int, frames: Int) -> SIMD4<Float> {
    requireFrames(from: first, frames)
    return vectors_second_differences(
      base + (first &+ 1) &* channelCount, channelCount, (frames &- 2) &* channelCount)
  }

  /// Returns the highest of the eight values.
  @_noLocks @inline(__always)
  static func highest(_ eight: SIMD8<Float>) -> Float {
    let half = highestOfFour(eight)
    let (first, second) = (max(half[0], half[1]), max(half[2], half[3]))
    return max(first, second)
  }

  /// Returns the higher of each two values that are four lanes apart.
  @_noLocks @inline(__always)
  private static func highestOfFour(_ eight: SIMD8<Float>) -> SIMD4<Float> {
    eight.lowHalf.replacing(with: eight.highHalf, where: eight.highHalf .> eight.lowHalf)
  }

  /// Returns the sum of the channels of a frame.
  @_noLocks @inlinable
  public func sum(ofFrame frame: Int) -> Float {
    // A negative index, as an unsigned number, is above every count.
    requirement(
      UInt(bitPattern: frame) < UInt(bitPattern: frameCount),
      "The frames are outside of the buffer.")
    let first = base + frame &* channelCount
    return channelCount == 2 ? first[0] + first[1] : sum(from: first)
  }

  /// Returns the sum of the samples of the frame at `first`. A separate function, so that the
  /// common case of two channels remains small after inlining.
  @_noLocks @inline(never) @usableFromInline
  func sum(from first: UnsafeMutablePointer<Float>) -> Float {
    var sum: Float = 0
    var channel = 0
    while channel < channelCount {
      sum += first[channel]
      channel &+= 1
    }
    return sum
  }

  /// Multiplies one frame by `gain` and limits it to the range from -`limit` to `limit`.
  @_noLocks @inlinable
  public mutating func scale(frame: Int, by gain: Float, within limit: Float) {
    requirement(
      frame >= 0 && frame < frameCount,
      "The frames are outside of the buffer.")
    let first = base + frame &* channelCount
    var channel = 0
    while channel < channelCount {
      let scaled = first[channel] * gain
      first[channel] = scaled > limit ? limit : scaled < -limit ? -limit : scaled
      channel &+= 1
    }
  }

  /// Returns the highest magnitude of one frame.
  @_noLocks @inlinable
  public func peak(ofFrame frame: Int) -> Float {
    requirement(
      frame >= 0 && frame < frameCount,
      "The frames are outside of the buffer.")
    let first = base + frame &* channelCount
    var peak: Float = 0
    var channel = 0
    while channel < channelCount {
      let magnitude = abs(first[channel])
      if magnitude > peak { peak = magnitude }
      channel &+= 1
    }
    return peak
  }
}
