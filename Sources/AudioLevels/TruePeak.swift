// Audio thread.

import AudioBasics
import Glibc

/// The highest magnitude of one channel, between its samples too: the true peak of ITU-R BS.1770-5,
/// Annex 2.
///
/// Samples are interpolated to four times rates below 96 kHz and twice those below 192 kHz, by a sinc
/// of 49 taps in a Hann window, as libebur128 does; above, the samples are the peak. What is
/// interpolated from samples of a magnitude of at most `m` is at most `m` times the filter's L1 norm:
/// where that is below the highest peak so far, nothing is interpolated. The result is the same, and of
/// most music little remains to be looked at.
///
/// All memory is allocated by the initialiser; `add` may run on the audio thread.
public struct TruePeak: ~Copyable, Sendable {
  /// The highest magnitude so far, full scale being 1; at least that of the samples. What is no number
  /// does not count.
  public private(set) var peak: Float = 0

  /// Frames that are looked at in one piece.
  private static let chunkFrames = 256
  /// Frames for which it is decided together whether they are interpolated; no fewer than a filter's taps.
  private static let blockFrames = 24

  /// Positions between two samples, and samples that each of these is made of.
  private let phases: Int
  private let taps: Int
  /// The filters of the positions between the samples, one after the other.
  private var coefficients: SampleBuffer
  /// The last samples of the chunk before, and then a chunk's, of this channel only.
  private var line: SampleBuffer
  /// The largest L1 norm of the filters, of their two taps in the middle, and of all others.
  private let norm: Float
  private let middleNorm: Float
  private let outerNorm: Float
  /// The highest magnitude of the samples before the chunk.
  private var earlier: Float = 0

  /// A channel of `sampleRate` that was silent up to now.
  public init(sampleRate: Int) {
    let factor = sampleRate < 96_000 ? 4 : sampleRate < 192_000 ? 2 : 1
    phases = factor - 1
    taps = phases > 0 ? 48 / factor : 0
    coefficients = SampleBuffer(frameCount: phases * taps, channelCount: 1)
    line = SampleBuffer(frameCount: taps + Self.chunkFrames, channelCount: 1)
    var (norm, middleNorm, outerNorm): (Float, Float, Float) = (0, 0, 0)
    for phase in 0..<phases {
      var (sum, middle): (Float, Float) = (0, 0)
      for tap in 0..<taps {
        let index = tap * factor + phase + 1
        let angle = Double(index - 24) * .pi / Double(factor)
        let sinc = sin(angle) / angle
        let window = (1 - cos(2 * .pi * Double(index) / 48)) / 2
        // The newest sample has the first tap; in the line it comes last.
        coefficients[phase * taps + taps - 1 - tap] = Float(sinc * window)
        sum += abs(Float(sinc * window))
        if tap == taps / 2 || tap == taps / 2 - 1 { middle += abs(Float(sinc * window)) }
      }
      norm = max(norm, sum)
      middleNorm = max(middleNorm, middle)
      outerNorm = max(outerNorm, sum - middle)
    }
    (self.norm, self.middleNorm, self.outerNorm) = (norm, middleNorm, outerNorm)
  }

  /// Looks at `frames` frames of `buffer`'s channel `channel` from `first` on, of which no sample's magnitude
  /// is above `bound`. Peaks up to `threshold` may be passed over.
  @_noLocks
  public mutating func add(
    _ buffer: borrowing SampleBuffer, channel: Int, from first: Int, frames: Int, bound: Float,
    threshold: Float = 0
  ) {
    precondition(channel >= 0 && channel < buffer.channelCount)
    precondition(first >= 0 && frames >= 0 && first &+ frames <= buffer.frameCount)
    let stride = buffer.channelCount
    let samples = UnsafePointer(buffer.base + (first &* stride &+ channel))
    let known = max(peak, threshold)
    if bound <= known && max(bound, earlier) * norm <= known {
      keepLast(samples, stride: stride, count: frames)
      return
    }
    var done = 0
    while done < frames {
      let count = min(Self.chunkFrames, frames &- done)
      addChunk(samples + done &* stride, stride: stride, count: count, threshold: threshold)
      done &+= count
    }
  }

  /// Keeps what the filters will reach back to.
  @_noLocks
  private mutating func keepLast(_ samples: UnsafePointer<Float>, stride: Int, count: Int) {
    let kept = max(0, taps &- count)
    for tap in 0..<kept { line.base[tap] = line.base[tap &+ count] }
    var index = (count &- (taps &- kept)) &* stride
    for tap in kept..<taps {
      line.base[tap] = samples[index]
      index &+= stride
    }
    earlier = highestMagnitude(0, taps)
  }

  @_noLocks
  private mutating func addChunk(
    _ samples: UnsafePointer<Float>, stride: Int, count: Int, threshold: Float
  ) {
    var index = 0
    for frame in 0..<count {
      line.base[taps &+ frame] = samples[index]
      index &+= stride
    }
    let highest = highestMagnitude(taps, taps &+ count)
    if highest > peak { peak = highest }
    let known = max(peak, threshold)
    if phases > 0 && max(highest, earlier) * norm > known { interpolate(count, known) }
    for tap in 0..<taps { line.base[tap] = line.base[count &+ tap] }
    earlier = highestMagnitude(0, taps)
  }

  /// Looks between the samples of a chunk, where they could be higher than `known`.
  @_noLocks
  private mutating func interpolate(_ count: Int, _ known: Float) {
    var before = earlier
    var frame = 0
    while frame < count {
      let end = min(count, frame &+ Self.blockFrames)
      let highest = highestMagnitude(taps &+ frame, taps &+ end)
      // No filter reaches further back than a block.
      let bound = max(highest, before)
      let known = max(peak, known)
      if bound * norm > known {
        // Where the two samples in the middle are below this, what lies between them is not higher.
        interpolate(from: frame, to: end, (known - bound * outerNorm) / middleNorm)
      }
      before = highest
      frame = end
    }
  }

  /// Looks between the samples of one block, at four frames at a time, where one is above `least`.
  @_noLocks
  private mutating func interpolate(from first: Int, to end: Int, _ least: Float) {
    var highest = SIMD4<Float>(repeating: peak)
    var frame = first
    while frame &+ 4 <= end {
      let window = line.base + (frame &+ 1)
      let left = Self.fourMagnitudes(window + (taps / 2 &- 1))
      let right = Self.fourMagnitudes(window + taps / 2)
      let middle = left.replacing(with: right, where: right .> left)
      if max(max(middle[0], middle[1]), max(middle[2], middle[3])) > least {
        for phase in 0..<phases {
          let filter = coefficients.base + phase &* taps
          var sum = SIMD4<Float>(repeating: 0)
          for tap in 0..<taps { sum += Self.four(window + tap) * filter[tap] }
          let magnitude = sum.replacing(with: -sum, where: sum .< 0)
          highest = highest.replacing(with: magnitude, where: magnitude .> highest)
        }
      }
      frame &+= 4
    }
    peak = max(max(highest[0], highest[1]), max(highest[2], highest[3]))
    while frame < end {
      for phase in 0..<phases {
        let filter = coefficients.base + phase &* taps
        var sum: Float = 0
        for tap in 0..<taps { sum += line.base[frame &+ 1 &+ tap] * filter[tap] }
        if abs(sum) > peak { peak = abs(sum) }
      }
      frame &+= 1
    }
  }

  @_noLocks @inline(__always)
  private static func four(_ samples: UnsafePointer<Float>) -> SIMD4<Float> {
    UnsafeRawPointer(samples).loadUnaligned(as: SIMD4<Float>.self)
  }

  @_noLocks @inline(__always)
  private static func fourMagnitudes(_ samples: UnsafePointer<Float>) -> SIMD4<Float> {
    unsafeBitCast(
      unsafeBitCast(four(samples), to: SIMD4<UInt32>.self) & SIMD4(repeating: 0x7FFF_FFFF),
      to: SIMD4<Float>.self)
  }

  /// The highest magnitude in the line from `first` to `end`.
  @_noLocks
  private func highestMagnitude(_ first: Int, _ end: Int) -> Float {
    var highest: Float = 0
    var index = first
    if first &+ 4 <= end {
      var four = SIMD4<Float>(repeating: 0)
      while index &+ 4 <= end {
        let more = Self.fourMagnitudes(line.base + index)
        four = four.replacing(with: more, where: more .> four)
        index &+= 4
      }
      highest = max(max(four[0], four[1]), max(four[2], four[3]))
    }
    while index < end {
      let magnitude = abs(line.base[index])
      highest = magnitude > highest ? magnitude : highest
      index &+= 1
    }
    return highest
  }
}
