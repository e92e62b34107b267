import CVectors

/// Statistics of one channel's samples: peak, clipping, and sums.
struct SampleStatistics {
  /// What counts as full scale: the highest a converter of 16 bits delivers.
  static let fullScale: Float = 32767 / 32768

  private(set) var peak: Float = 0
  private(set) var clippedSamples = 0
  /// The sums of all samples, and of their squares.
  private(set) var sum = 0.0
  private(set) var squares = 0.0
  /// Samples in a row, up to now, at full scale.
  private var clippedRun = 0

  /// Looks at `frames` interleaved frames from `samples` on; `channels` and `sums`, which are
  /// overwritten, have one element for each channel. Returns whether each sample is a finite
  /// number: where one is not, peaks and clipped samples are counted, and nothing is summed up.
  static func add(
    _ samples: UnsafePointer<Float>, frames: Int, to channels: inout [SampleStatistics],
    _ sums: inout [ChannelSums]
  ) -> Bool {
    let width = channels.count
    vectors_sum_up(&sums, samples, frames, width)
    var isFinite = true
    for channel in 0..<width {
      // A sum of squares of floats is finite where all of them are.
      let isNumber = sums[channel].squares.isFinite
      channels[channel].add(
        samples + channel, count: frames, stride: width, highest: sums[channel].peak,
        isFinite: isNumber)
      isFinite = isFinite && isNumber
    }
    guard isFinite else { return false }
    for channel in 0..<width {
      channels[channel].sum += sums[channel].sum
      channels[channel].squares += sums[channel].squares
    }
    return true
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
