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
/// All memory is allocated by the initialiser.
struct TruePeak: ~Copyable {
  /// The highest magnitude so far, full scale being 1; at least that of the samples. What is no number
  /// does not count.
  private(set) var peak: Float = 0

  /// Frames for which it is decided together whether they are interpolated; no fewer than a filter's taps.
  static var blockFrames: Int {
    @_noLocks get { 32 }
  }

  /// Positions between two samples, and samples that each of these is made of.
  private let phases: Int
  private let taps: Int
  /// The filters of the positions between the samples, one after the other.
  private var coefficients: SampleBuffer
  /// The last samples that were looked at.
  private var history: SampleBuffer
  /// A block's samples, and those before it.
  private var line: SampleBuffer
  /// The largest L1 norm of the filters, of their two taps in the middle, of all others, and of all but the
  /// four in the middle.
  private let norm: Float
  private let middleNorm: Float
  private let outerNorm: Float
  private let farNorm: Float

  /// A channel of `sampleRate` that was silent up to now.
  init(sampleRate: Int) {
    let factor = sampleRate < 96_000 ? 4 : sampleRate < 192_000 ? 2 : 1
    phases = factor - 1
    taps = phases > 0 ? 48 / factor : 0
    coefficients = SampleBuffer(frameCount: phases * taps, channelCount: 1)
    history = SampleBuffer(frameCount: taps, channelCount: 1)
    line = SampleBuffer(frameCount: taps + Self.blockFrames, channelCount: 1)
    var (norm, middleNorm, outerNorm, farNorm): (Float, Float, Float, Float) = (0, 0, 0, 0)
    for phase in 0..<phases {
      var (sum, middle, near): (Float, Float, Float) = (0, 0, 0)
      for tap in 0..<taps {
        let index = tap * factor + phase + 1
        let angle = Double(index - 24) * .pi / Double(factor)
        let sinc = sin(angle) / angle
        let window = (1 - cos(2 * .pi * Double(index) / 48)) / 2
        // The newest sample has the first tap; in the line it comes last.
        coefficients[phase * taps + taps - 1 - tap] = Float(sinc * window)
        sum += abs(Float(sinc * window))
        let distance = abs(2 * tap + 1 - taps)
        if distance < 2 { middle += abs(Float(sinc * window)) }
        if distance < 4 { near += abs(Float(sinc * window)) }
      }
      norm = max(norm, sum)
      middleNorm = max(middleNorm, middle)
      outerNorm = max(outerNorm, sum - middle)
      farNorm = max(farNorm, sum - near)
    }
    (self.norm, self.middleNorm, self.outerNorm) = (norm, middleNorm, outerNorm)
    self.farNorm = farNorm
  }

  /// Looks at a block of at most `blockFrames` frames of `buffer`'s channel `channel`, which begins at `place`;
  /// `known` frames of the same sound are there before it, the others were kept. No magnitude of the block
  /// and of the one before is above `bound`. Peaks up to `threshold` may be passed over.
  @_noLocks
  mutating func look(
    _ buffer: borrowing SampleBuffer, channel: Int, at place: Int, count: Int, known: Int,
    bound: Float, threshold: Float
  ) {
    let highest = max(peak, threshold)
    guard bound > highest || bound * norm > highest else { return }
    let stride = buffer.channelCount
    let samples = UnsafePointer(buffer.base + (place &* stride &+ channel))
    let kept = max(0, taps &- known)
    for tap in 0..<kept { line.base[tap] = history.base[known &+ tap] }
    var index = (kept &- taps) &* stride
    for tap in kept..<taps &+ count {
      line.base[tap] = samples[index]
      index &+= stride
    }
    interpolate(count, threshold)
  }

  /// Keeps what the filters will reach back to: the last of `count` frames of `buffer`'s channel, which begin
  /// at `first`.
  @_noLocks
  mutating func keepLast(
    _ buffer: borrowing SampleBuffer, channel: Int, from first: Int, count: Int
  ) {
    let stride = buffer.channelCount
    let samples = UnsafePointer(buffer.base + (first &* stride &+ channel))
    let kept = max(0, taps &- count)
    for tap in 0..<kept { history.base[tap] = history.base[tap &+ count] }
    var index = (count &- (taps &- kept)) &* stride
    for tap in kept..<taps {
      history.base[tap] = samples[index]
      index &+= stride
    }
  }

  /// The highest magnitude of what is kept.
  var keptPeak: Float {
    @_noLocks get { history.peak(frames: taps) }
  }

  /// Looks at a block in the line, where it could be higher than what is known.
  @_noLocks
  private mutating func interpolate(_ count: Int, _ threshold: Float) {
    let sample = line.peak(from: taps, frames: count)
    if sample > peak { peak = sample }
    guard phases > 0 else { return }
    let bound = max(sample, line.peak(from: 0, frames: taps))
    let known = max(peak, threshold)
    if bound * norm > known { interpolate(from: 0, to: count, known, bound) }
  }

  /// Looks between the samples of one block, at four frames at a time, where one could be higher than
  /// `known`. No magnitude in the line is above `bound`.
  @_noLocks
  private mutating func interpolate(from first: Int, to end: Int, _ known: Float, _ bound: Float) {
    // What two or four samples in the middle come to tells most of it.
    let leastMiddle = (known - bound * outerNorm) / middleNorm
    let leastNear = known - bound * farNorm
    var highest = SIMD4<Float>(repeating: peak)
    var frame = first
    while frame &+ 4 <= end {
      let window = line.base + (frame &+ 1)
      let left = Self.four(window + (taps / 2 &- 1))
      let right = Self.four(window + taps / 2)
      if Self.highest(Self.magnitudes(left), Self.magnitudes(right)) > leastMiddle
        && isNear(window, left, right, leastNear)
      {
        for phase in 0..<phases {
          let filter = coefficients.base + phase &* taps
          var sum = SIMD4<Float>(repeating: 0)
          for tap in 0..<taps { sum += Self.four(window + tap) * filter[tap] }
          let magnitude = Self.magnitudes(sum)
          highest = highest.replacing(with: magnitude, where: magnitude .> highest)
        }
      }
      frame &+= 4
    }
    peak = Self.highest(highest, highest)
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

  /// Whether the four samples in the middle of the filters alone come to more than `least` somewhere. The inner
  /// two are given.
  @_noLocks @inline(__always)
  private func isNear(
    _ window: UnsafePointer<Float>, _ left: SIMD4<Float>, _ right: SIMD4<Float>, _ least: Float
  ) -> Bool {
    let middle = taps / 2
    let before = Self.four(window + (middle &- 2))
    let after = Self.four(window + (middle &+ 1))
    var highest = SIMD4<Float>(repeating: 0)
    for phase in 0..<phases {
      let filter = coefficients.base + (phase &* taps &+ middle)
      let inner = left * filter[-1] + right * filter[0]
      let magnitude = Self.magnitudes(before * filter[-2] + inner + after * filter[1])
      highest = highest.replacing(with: magnitude, where: magnitude .> highest)
    }
    return Self.highest(highest, highest) > least
  }

  /// The highest of eight.
  @_noLocks @inline(__always)
  private static func highest(_ one: SIMD4<Float>, _ other: SIMD4<Float>) -> Float {
    let four = one.replacing(with: other, where: other .> one)
    let two = four.lowHalf.replacing(with: four.highHalf, where: four.highHalf .> four.lowHalf)
    return two[0] > two[1] ? two[0] : two[1]
  }

  /// Samples without their signs.
  @_noLocks @inline(__always)
  private static func magnitudes(_ samples: SIMD4<Float>) -> SIMD4<Float> {
    unsafeBitCast(
      unsafeBitCast(samples, to: SIMD4<UInt32>.self) & SIMD4(repeating: 0x7FFF_FFFF),
      to: SIMD4<Float>.self)
  }

  @_noLocks @inline(__always)
  private static func four(_ samples: UnsafePointer<Float>) -> SIMD4<Float> {
    UnsafeRawPointer(samples).loadUnaligned(as: SIMD4<Float>.self)
  }
}
