import AudioSpectra

/// Detects a jump of the delay within a signal, as where frames were lost or inserted.
///
/// Segments of the reference are correlated with the recording by the phase transform (GCC-PHAT).
/// Where the delay jumps, the segments before agree on one lag and those after it on another one.
/// Echoes are in all segments, and a drift changes the lag gradually.
struct DelayJump {
  /// The largest jump that is searched for, in frames.
  private static let maximumJump = 2000
  /// The least height of a peak, in standard deviations of the transform of random phases.
  private static let minimumHeight: Float = 8
  /// The least number of segments on each side that agree, and their least share.
  private static let (minimumCount, minimumShare) = (3, 0.75)

  /// Returns whether the delay of `reference` in `recording`, about `lag`, jumps.
  static func exists(_ reference: Span<Float>, in recording: Span<Float>, near lag: Int) -> Bool {
    let lags = segmentLags(reference, recording, near: lag)
    let early = agreements(lags)
    let late = agreements(lags.reversed())
    return lags.indices.dropFirst().contains { end in
      guard let before = early[end - 1], let after = late[lags.count - end - 1] else {
        return false
      }
      return abs(before - after) > 1
    }
  }

  /// Returns for each lag the one that most of the lags up to it have, to one frame; nil if they do
  /// not agree.
  private static func agreements(_ lags: some Sequence<Int>) -> [Int?] {
    var sorted: [Int] = []
    return lags.map { lag in
      sorted.insert(lag, at: index(of: lag, in: sorted))
      let median = sorted[sorted.count / 2]
      let count = index(of: median + 2, in: sorted) - index(of: median - 1, in: sorted)
      let isAgreed =
        count >= minimumCount && Double(count) >= minimumShare * Double(sorted.count)
      return isAgreed ? median : nil
    }
  }

  /// Returns the index of the first value that is not below `value`, found by bisection.
  private static func index(of value: Int, in sorted: [Int]) -> Int {
    var (low, high) = (0, sorted.count)
    while low < high {
      let middle = (low + high) / 2
      if sorted[middle] < value { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Returns the lag of each segment that is clearly found, in their order.
  private static func segmentLags(
    _ reference: Span<Float>, _ recording: Span<Float>, near lag: Int
  ) -> [Int] {
    let reach = min(maximumJump, reference.count / 4)
    guard let segments = ReferenceSegments(frames: reference.count, reach: reach) else {
      return []
    }
    var lags: [Int] = []
    for frames in segments.ranges(of: reference.count) where frames.count == segments.length {
      let (played, recorded) = segments.spectra(frames, of: reference, lag: lag) {
        recording.indices.contains($0) ? recording[$0] : 0
      }
      // Frequencies that the segment does not contain have no phase.
      let minimum = 1e-5 * (played.map(\.power).max() ?? 0)
      let phases = played.indices.map { bin -> ComplexFloat in
        let cross = recorded[bin] * played[bin].conjugate
        guard played[bin].power > minimum, cross.power > 0 else { return ComplexFloat(0, 0) }
        return cross * (1 / cross.power.squareRoot())
      }
      let heights = segments.transform.signal(of: phases)
      let best = (0...2 * reach).max { abs(heights[$0]) < abs(heights[$1]) } ?? reach
      let deviation =
        (heights.reduce(0) { $0 + $1 * $1 } / Float(heights.count)).squareRoot()
      if abs(heights[best]) > minimumHeight * deviation { lags.append(best - reach) }
    }
    return lags
  }
}
