import AudioBasics
import AudioLevels
import Testing

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
}
