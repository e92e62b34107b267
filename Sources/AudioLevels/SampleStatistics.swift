/// What can be said of a channel's samples one by one: peak and clipping.
struct SampleStatistics {
  /// What counts as full scale: the highest a converter of 16 bits delivers.
  static let fullScale: Float = 32767 / 32768

  private(set) var peak: Float = 0
  private(set) var clippedSamples = 0
  /// Samples in a row, up to now, at full scale.
  private var clippedRun = 0

  /// Looks at `frames` interleaved frames from `samples` on, `channels` having one element for each
  /// channel. Returns whether each sample is a finite number: where a channel's are not, all but
  /// its peak is as if they had not been.
  static func add(
    _ samples: UnsafePointer<Float>, frames: Int, to channels: inout [SampleStatistics]
  ) -> Bool {
    let width = channels.count
    // Lanes of a vector are always the same channel where they are a multiple of the channels.
    let isVector = width > 0 && 8 % width == 0
    let vectors = isVector ? Extremes(samples, count: frames * width) : Extremes()
    var isFinite = true
    for channel in 0..<width {
      var (highest, nonFiniteSum) = (Float(0), Float(0))
      if isVector {
        for lane in Swift.stride(from: channel, to: 8, by: width) {
          highest = max(highest, vectors.highest[lane])
          nonFiniteSum += vectors.nonFiniteSum[lane]
        }
      } else {
        for frame in 0..<frames {
          let sample = samples[frame &* width &+ channel]
          nonFiniteSum += sample * 0
          highest = abs(sample) > highest ? abs(sample) : highest
        }
      }
      let isNumber = nonFiniteSum == 0
      channels[channel].add(
        samples + channel, count: frames, stride: width, highest: highest, isFinite: isNumber)
      isFinite = isFinite && isNumber
    }
    return isFinite
  }

  /// What eight samples, and each eight that follow, reach in each lane.
  private struct Extremes {
    /// The highest magnitude; what is no number does not count.
    private(set) var highest = SIMD8<Float>()
    /// Zero as long as all are finite.
    private(set) var nonFiniteSum = SIMD8<Float>()

    init() {}

    init(_ samples: UnsafePointer<Float>, count: Int) {
      let whole = count & ~7
      var (highest, nonFiniteSum) = (SIMD8<Float>(), SIMD8<Float>())
      var index = 0
      while index < whole {
        let eight = UnsafeRawPointer(samples + index).loadUnaligned(as: SIMD8<Float>.self)
        let magnitudes = Self.magnitudes(eight)
        // In this order of operands a maximum is one instruction.
        highest = highest.replacing(with: magnitudes, where: magnitudes .> highest)
        nonFiniteSum += eight * 0
        index &+= 8
      }
      while index < count {
        let lane = index & 7
        let magnitude = abs(samples[index])
        if magnitude > highest[lane] { highest[lane] = magnitude }
        nonFiniteSum[lane] += samples[index] * 0
        index &+= 1
      }
      (self.highest, self.nonFiniteSum) = (highest, nonFiniteSum)
    }

    @inline(__always)
    private static func magnitudes(_ samples: SIMD8<Float>) -> SIMD8<Float> {
      unsafeBitCast(
        unsafeBitCast(samples, to: SIMD8<UInt32>.self) & SIMD8(repeating: 0x7FFF_FFFF),
        to: SIMD8<Float>.self)
    }
  }

  /// Counts samples of this channel, the highest magnitude of which is known.
  private mutating func add(
    _ samples: UnsafePointer<Float>, count: Int, stride: Int, highest: Float, isFinite: Bool
  ) {
    if highest > peak { peak = highest }
    guard isFinite, highest >= Self.fullScale else {
      clippedRun = 0
      return
    }
    countClipped(samples, count: count, stride: stride)
  }

  private mutating func countClipped(_ samples: UnsafePointer<Float>, count: Int, stride: Int) {
    for frame in 0..<count {
      guard abs(samples[frame &* stride]) >= Self.fullScale else {
        clippedRun = 0
        continue
      }
      clippedRun &+= 1
      // The second of a run vouches for the first.
      clippedSamples &+= clippedRun == 1 ? 0 : clippedRun == 2 ? 2 : 1
    }
  }
}
