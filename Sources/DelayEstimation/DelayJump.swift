import AudioSpectra

/// Detects a jump of the delay within a signal, as where frames were lost or inserted.
///
/// Segments of the reference are correlated with the recording by the phase transform (GCC-PHAT).
/// Where the delay jumps, the segments before agree on one lag and those after it on another one.
/// Echoes are in all segments, and a drift changes the lag gradually.
struct DelayJump {
  /// The length of a segment and the largest jump, in frames, for long signals.
  private static let (segmentFrames, maximumJump) = (4096, 2000)
  /// The least height of a peak, in standard deviations of the transform of random phases.
  private static let leastHeight: Float = 8
  /// The least number of segments on each side that agree, and their least share.
  private static let (leastCount, leastShare) = (3, 0.75)

  /// Returns whether the delay of `reference` in `recording`, about `lag`, jumps.
  static func exists(_ reference: Span<Float>, in recording: Span<Float>, near lag: Int) -> Bool {
    let lags = segmentLags(reference, recording, near: lag)
    guard lags.count >= 2 * leastCount else { return false }
    return (leastCount...lags.count - leastCount).contains { end in
      guard let early = agreement(lags[..<end]), let late = agreement(lags[end...]) else {
        return false
      }
      return abs(early - late) > 1
    }
  }

  /// Returns the lag that most of `lags` have to one frame, or nil if they do not agree.
  private static func agreement(_ lags: ArraySlice<Int>) -> Int? {
    let median = lags.sorted()[lags.count / 2]
    let count = lags.count { abs($0 - median) <= 1 }
    return count >= leastCount && Double(count) >= leastShare * Double(lags.count) ? median : nil
  }

  /// Returns the lag of each segment that is clearly found, in their order.
  private static func segmentLags(
    _ reference: Span<Float>, _ recording: Span<Float>, near lag: Int
  ) -> [Int] {
    let length = max(256, min(segmentFrames, reference.count / 12))
    let reach = min(maximumJump, reference.count / 4)
    guard let transform = FourierTransform(atLeast: length + 2 * reach + 1) else { return [] }
    var lags: [Int] = []
    for start in stride(from: 0, through: reference.count - length, by: length) {
      let segment = (start..<start + length).map { reference[$0] }
      let first = start + lag - reach
      let excerpt = (first..<first + length + 2 * reach).map {
        recording.indices.contains($0) ? recording[$0] : 0
      }
      let played = transform.spectrum(of: segment.span)
      let recorded = transform.spectrum(of: excerpt.span)
      // Frequencies that the segment does not contain have no phase.
      let least = 1e-5 * (played.map(\.power).max() ?? 0)
      var used: Float = 0
      let phases = played.indices.map { bin -> ComplexFloat in
        let cross = recorded[bin] * played[bin].conjugate
        guard played[bin].power > least, cross.power > 0 else { return ComplexFloat(0, 0) }
        used += 1
        return cross * (1 / cross.power.squareRoot())
      }
      let heights = transform.signal(of: phases)
      guard used > 0, heights.count > 2 * reach else { continue }
      let best = (0...2 * reach).max { abs(heights[$0]) < abs(heights[$1]) } ?? reach
      var sum: Float = 0
      for height in heights { sum += height * height }
      let deviation = (sum / Float(heights.count)).squareRoot()
      if abs(heights[best]) > leastHeight * deviation { lags.append(best - reach) }
    }
    return lags
  }
}
