import CVectors

/// The statistics of the samples of one channel: peak, clipping and sums.
struct SampleStatistics {
  /// The lowest full-scale magnitude: the highest value of a 16-bit converter.
  static let fullScale: Float = 32767 / 32768

  private(set) var peak: Float = 0
  private(set) var clippedSamples = 0
  /// The sums of all samples and of their squares.
  private(set) var sum = 0.0
  private(set) var squares = 0.0
  /// The number of consecutive samples at full scale up to now.
  private var clippedRun = 0

  /// Adds `frames` interleaved frames from `samples` on. `channels` and `sums`, which is
  /// overwritten, have one element per channel. Returns whether all samples are finite. If not,
  /// only peaks and clipped samples are counted, and the sums do not change.
  static func add(
    _ samples: UnsafePointer<Float>, frames: Int, to channels: inout [SampleStatistics],
    _ sums: inout [ChannelSums]
  ) -> Bool {
    let width = channels.count
    vectors_sum_up(&sums, samples, frames, width)
    var isFinite = true
    for channel in 0..<width {
      // The sum of the squares of floats is finite if and only if all of them are.
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

  /// Updates the peak and counts the clipped samples of this channel; `highest` is its highest
  /// magnitude.
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
      // A single sample is not counted; the second sample of a run counts for both.
      clippedSamples &+= clippedRun == 1 ? 0 : clippedRun == 2 ? 2 : 1
    }
  }
}
