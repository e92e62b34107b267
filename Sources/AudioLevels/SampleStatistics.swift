/// What can be said of a channel's samples one by one: peak and clipping.
struct SampleStatistics {
  /// What counts as full scale: the highest a converter of 16 bits delivers.
  static let fullScale: Float = 32767 / 32768

  private(set) var peak: Float = 0
  private(set) var clippedSamples = 0
  /// Samples in a row, up to now, at full scale.
  private var clippedRun = 0

  /// Looks at `count` samples that lie `stride` apart. Returns whether each is a finite number:
  /// otherwise all but the peak is as if they had not been.
  mutating func add(_ samples: UnsafePointer<Float>, count: Int, stride: Int) -> Bool {
    var highest: Float = 0
    // Zero as long as all are finite.
    var doubt: Float = 0
    var index = 0
    for _ in 0..<count {
      let sample = samples[index]
      index &+= stride
      doubt += sample * 0
      highest = abs(sample) > highest ? abs(sample) : highest
    }
    if highest > peak { peak = highest }
    guard doubt == 0 else {
      clippedRun = 0
      return false
    }
    if highest >= Self.fullScale {
      countClipped(samples, count: count, stride: stride)
    } else {
      clippedRun = 0
    }
    return true
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
