import AudioBasics
import Testing

@testable import AudioSessions

struct SlidingPeakTests {
  @Test func `the highest peak is that of the last sixteen blocks`() {
    var window = SlidingPeak(blockFrames: 4)
    var chance = SplitMix64(seed: 5)
    var blocks: [Float] = []
    for _ in 0..<500 {
      // Mostly low, so that a high peak is the highest for all sixteen blocks.
      let level: Float = UInt8.random(in: 0..<12, using: &chance) == 0 ? 1 : 0.01
      let peaks = (0..<2).map { _ in Float.random(in: 0...level, using: &chance) }
      let isEarly = window.add(peaks[0], frames: 3)
      #expect(window.highest == blocks.suffix(16).max() ?? 0)
      let isComplete = window.add(peaks[1], frames: 1)
      #expect(!isEarly && isComplete)
      blocks.append(max(peaks[0], peaks[1]))
      #expect(window.highest == blocks.suffix(16).max() ?? 0)
    }
  }

  @Test func `a peak counts for each block that contains some of its frames`() {
    var window = SlidingPeak(blockFrames: 4)
    var chance = SplitMix64(seed: 6)
    var frames: [Float] = []
    for _ in 0..<500 {
      let level: Float = UInt8.random(in: 0..<12, using: &chance) == 0 ? 1 : 0.01
      let peak = Float.random(in: 0...level, using: &chance)
      let count = Int.random(in: 1...11, using: &chance)
      let blocks = frames.count / 4
      frames += [Float](repeating: peak, count: count)
      let isComplete = window.add(peak, frames: count)
      #expect(isComplete == (frames.count / 4 > blocks))
      let end = frames.count / 4 * 4
      #expect(window.highest == frames[max(0, end - 64)..<end].max() ?? 0)
    }
  }

  @Test func `a window without memory is always complete`() {
    var window = SlidingPeak(blockFrames: 0)
    let isComplete = window.add(1, frames: 64)
    #expect(isComplete && window.highest == 0)
  }

  @Test(arguments: [0.5, 0.500_001, 0.7, 0.999, 1, 1.001, 30] as [Float])
  func `the steady gain is at most 0.07 dB below the gain that a peak requires`(peak: Float) {
    let gain = SlidingPeak.steadyGain(of: peak, limit: 0.5)
    let highest = peak > 0.5 ? SlidingPeak.gain(of: peak, limit: 0.5) : 1
    #expect(gain <= highest && gain > 0.992 * highest)
  }
}
