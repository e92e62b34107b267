// Audio thread.

/// How high frames reach, and what it takes to look at them closely.
extension SampleBuffer {
  /// The highest magnitude of the first `frames` frames, all channels together.
  @_noLocks
  public func peak(frames: Int) -> Float {
    let count = sampleCount(of: frames)
    let whole = count & ~7
    var highest = SIMD8<Float>(repeating: 0)
    var index = 0
    while index < whole {
      let magnitude = Self.magnitudes(eightSamples(at: index))
      // In this order of operands a maximum is one instruction.
      highest = highest.replacing(with: magnitude, where: magnitude .> highest)
      index &+= 8
    }
    let half = highest.lowHalf.replacing(
      with: highest.highHalf, where: highest.highHalf .> highest.lowHalf)
    let pair = half.lowHalf.replacing(with: half.highHalf, where: half.highHalf .> half.lowHalf)
    var peak = pair[0] > pair[1] ? pair[0] : pair[1]
    while index < count {
      let magnitude = abs(base[index])
      if magnitude > peak { peak = magnitude }
      index &+= 1
    }
    return peak
  }

  /// The sum of a frame's channels.
  @_noLocks @inlinable
  public func sum(ofFrame frame: Int) -> Float {
    // Below zero, too, is above every count.
    precondition(UInt(bitPattern: frame) < UInt(bitPattern: frameCount))
    let first = base + frame &* channelCount
    return channelCount == 2 ? first[0] + first[1] : sum(from: first)
  }

  /// Kept apart, so that what is common stays small where it is used.
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

  /// Multiplies one frame by `gain` and keeps it between -`limit` and `limit`.
  @_noLocks @inlinable
  public mutating func scale(frame: Int, by gain: Float, within limit: Float) {
    precondition(frame >= 0 && frame < frameCount)
    let first = base + frame &* channelCount
    var channel = 0
    while channel < channelCount {
      let scaled = first[channel] * gain
      first[channel] = scaled > limit ? limit : scaled < -limit ? -limit : scaled
      channel &+= 1
    }
  }

  /// The highest magnitude of one frame.
  @_noLocks @inlinable
  public func peak(ofFrame frame: Int) -> Float {
    precondition(frame >= 0 && frame < frameCount)
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
