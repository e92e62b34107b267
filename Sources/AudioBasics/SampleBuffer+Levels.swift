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
    guard channelCount > 0 else { return 0 }
    return vectors_measure(levels.base, base, channelCount, sampleCount(of: frames))
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

  /// Sets the samples in `frames` frames, starting at `first`, that are NaN or infinite to 0, adds
  /// their number to `silenced`, and returns the highest magnitude over all channels. It costs as
  /// much as `peak` if there are none.
  @_noLocks @inline(__always)
  package mutating func finitePeak(from first: Int, frames: Int, silenced: inout Int) -> Float {
    let peak = peakOrNaN(from: first, frames: frames)
    if peak < .infinity { return peak }
    silenced &+= silenceNonFinite(from: first, frames: frames)
    return self.peak(from: first, frames: frames)
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
