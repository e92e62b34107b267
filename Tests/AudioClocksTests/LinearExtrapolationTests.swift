import AudioBasics
import AudioClocks
import Glibc
import Testing

@Suite struct LinearExtrapolationTests {
  private func tones(_ frames: Int) -> SampleBuffer {
    var sound = SampleBuffer(frameCount: frames, channelCount: 2)
    for frame in 0..<frames {
      let time = Double(frame)
      sound[2 * frame] = Float(0.5 * sin(0.14 * time) + 0.2 * sin(1.1 * time + 1))
      sound[2 * frame + 1] = Float(0.7 * cos(0.02 * time))
    }
    return sound
  }

  @Test func `tones are extrapolated forwards and backwards`() {
    let all = tones(3000)
    var middle = SampleBuffer(frameCount: 1500, channelCount: 2)
    middle.replace(at: 0, with: all, from: 1000, frames: 1500)
    var after = SampleBuffer(frameCount: 256, channelCount: 2)
    LinearExtrapolation.extrapolate(after: middle, frames: 1500, into: &after, count: 256)
    var before = SampleBuffer(frameCount: 256, channelCount: 2)
    LinearExtrapolation.extrapolate(before: middle, frames: 1500, into: &before, count: 256)
    // A filter reads a few dozen frames ahead; farther frames may be less accurate.
    for frame in 0..<256 {
      let limit: Float = frame < 64 ? 2e-4 : 0.02
      for channel in 0..<2 {
        let ahead = after[2 * frame + channel] - all[2 * (2500 + frame) + channel]
        #expect(abs(ahead) < limit)
        let back = before[2 * (255 - frame) + channel] - all[2 * (999 - frame) + channel]
        #expect(abs(back) < limit)
      }
    }
  }

  @Test(arguments: [0, 1, 2, 5])
  func `a few frames of silence are extrapolated as silence`(frames: Int) {
    let sound = SampleBuffer(frameCount: 8, channelCount: 1)
    var after = SampleBuffer(frameCount: 16, channelCount: 1)
    after[3] = 9
    LinearExtrapolation.extrapolate(after: sound, frames: frames, into: &after, count: 16)
    for frame in 0..<16 { #expect(after[frame] == 0) }
  }
}
