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
  /// The largest L1 norm of the filters.
  private let norm: Float

  /// A channel of `sampleRate` that was silent up to now.
  public init(sampleRate: Int) {
    let factor = sampleRate < 96_000 ? 4 : sampleRate < 192_000 ? 2 : 1
    phases = factor - 1
    taps = phases > 0 ? 48 / factor : 0
    coefficients = SampleBuffer(frameCount: phases * taps, channelCount: 1)
    line = SampleBuffer(frameCount: taps + Self.chunkFrames, channelCount: 1)
    var norm: Float = 0
    for phase in 0..<phases {
      var sum: Float = 0
      for tap in 0..<taps {
        let index = tap * factor + phase + 1
        let angle = Double(index - 24) * .pi / Double(factor)
        let sinc = sin(angle) / angle
        let window = (1 - cos(2 * .pi * Double(index) / 48)) / 2
        // The newest sample has the first tap; in the line it comes last.
        coefficients[phase * taps + taps - 1 - tap] = Float(sinc * window)
        sum += abs(Float(sinc * window))
      }
      norm = max(norm, sum)
    }
    self.norm = norm
  }

  /// Looks at `frames` frames of `buffer`'s channel `channel` from `first` on.
  @_noLocks
  public mutating func add(
    _ buffer: borrowing SampleBuffer, channel: Int, from first: Int = 0, frames: Int
  ) {
    precondition(channel >= 0 && channel < buffer.channelCount)
    precondition(first >= 0 && frames >= 0 && first &+ frames <= buffer.frameCount)
    var done = 0
    while done < frames {
      let count = min(Self.chunkFrames, frames &- done)
      let index = (first &+ done) &* buffer.channelCount &+ channel
      addChunk(buffer.base + index, stride: buffer.channelCount, count: count)
      done &+= count
    }
  }

  @_noLocks
  private mutating func addChunk(_ samples: UnsafePointer<Float>, stride: Int, count: Int) {
    let chunk = line.base + taps
    var highest: Float = 0
    // Zero as long as all are finite.
    var doubt: Float = 0
    var index = 0
    for frame in 0..<count {
      let sample = samples[index]
      chunk[frame] = sample
      doubt += sample * 0
      highest = abs(sample) > highest ? abs(sample) : highest
      index &+= stride
    }
    if highest > peak { peak = highest }
    guard doubt == 0 else {
      // What is no number would stay in the filters.
      for tap in 0..<taps { line.base[tap] = 0 }
      return
    }
    if phases > 0 {
      let earlier = highestMagnitude(0, taps)
      if max(highest, earlier) * norm > peak { interpolate(count, earlier: earlier) }
    }
    for tap in 0..<taps { line.base[tap] = line.base[count &+ tap] }
  }

  /// The highest magnitude in the line from `first` to `end`.
  @_noLocks
  private func highestMagnitude(_ first: Int, _ end: Int) -> Float {
    var highest: Float = 0
    for index in first..<end {
      let magnitude = abs(line.base[index])
      highest = magnitude > highest ? magnitude : highest
    }
    return highest
  }

  /// Looks between the samples of a chunk, where they could be higher. `earlier` is the highest magnitude
  /// before it.
  @_noLocks
  private mutating func interpolate(_ count: Int, earlier: Float) {
    var earlier = earlier
    var frame = 0
    while frame < count {
      let end = min(count, frame &+ Self.blockFrames)
      let highest = highestMagnitude(taps &+ frame, taps &+ end)
      // No filter reaches further back than a block.
      if max(highest, earlier) * norm > peak { interpolate(from: frame, to: end) }
      earlier = highest
      frame = end
    }
  }

  /// Looks between the samples of one block, at four frames at a time.
  @_noLocks
  private mutating func interpolate(from first: Int, to end: Int) {
    var highest = SIMD4<Float>(repeating: peak)
    for phase in 0..<phases {
      let filter = coefficients.base + phase &* taps
      var frame = first
      while frame &+ 4 <= end {
        let window = line.base + (frame &+ 1)
        var sum = SIMD4<Float>(repeating: 0)
        for tap in 0..<taps {
          sum += UnsafeRawPointer(window + tap).loadUnaligned(as: SIMD4<Float>.self) * filter[tap]
        }
        let magnitude = sum.replacing(with: -sum, where: sum .< 0)
        highest = highest.replacing(with: magnitude, where: magnitude .> highest)
        frame &+= 4
      }
      while frame < end {
        var sum: Float = 0
        for tap in 0..<taps { sum += line.base[frame &+ 1 &+ tap] * filter[tap] }
        if abs(sum) > highest[0] { highest[0] = abs(sum) }
        frame &+= 1
      }
    }
    peak = max(max(highest[0], highest[1]), max(highest[2], highest[3]))
  }
}
