import AudioBasics
import Testing

@testable import AudioLevels

@Suite struct FrameSumsTests {
  /// Returns noise-like samples: the fractional parts of multiples of the golden ratio.
  private func sound(_ channels: Int, frames: Int) -> SampleBuffer {
    var sound = SampleBuffer(frameCount: frames, channelCount: channels)
    for index in 0..<sound.sampleCount {
      sound[index] = Float((Double(index) * 0.618_033_988_75).truncatingRemainder(dividingBy: 1))
    }
    return sound
  }

  @Test(arguments: 1...4, [1, 2, 3, 7, 9])
  func `every n-th frame is summed once, whatever the lengths of the parts`(
    channels: Int, stride: Int
  ) {
    let sound = sound(channels, frames: 300)
    let wanted = Swift.stride(from: 0, to: 300, by: stride).map { frame in
      (1..<channels).reduce(sound[frame * channels]) { $0 + sound[frame * channels + $1] }
    }
    for part in [1, 7, 16, 33, 64, 300] {
      var sums = FrameSums(stride: stride, frameCount: 300)
      var unmeasured = FrameSums(stride: stride, frameCount: 300)
      var frame = 0
      while frame < 300 {
        let frames = min(part, 300 - frame)
        let peak = sums.add(sound, from: frame, frames: frames)
        #expect(peak == (frame * channels..<(frame + frames) * channels).map { sound[$0] }.max())
        unmeasured.addUnmeasured(sound, from: frame, frames: frames)
        frame += frames
      }
      #expect((0..<sums.count).map { sums.samples[$0] } == wanted)
      #expect((0..<unmeasured.count).map { unmeasured.samples[$0] } == wanted)
    }
  }

  @Test(arguments: 1...3, [1, 2, 3, 4])
  func `sums and those between them are added together like one after the other`(
    channels: Int, stride: Int
  ) {
    let sound = sound(channels, frames: 300)
    for part in [1, 16, 33, 64, 300] {
      func sums(areTogether: Bool) -> [[Float]] {
        var sums = FrameSums(stride: stride, frameCount: 300)
        var between = FrameSums(stride: stride, frameCount: 300)
        between.begin(between: sums)
        var frame = 0
        while frame < 300 {
          let frames = min(part, 300 - frame)
          if areTogether {
            sums.addUnmeasured(sound, from: frame, frames: frames, between: &between)
          } else {
            _ = sums.add(sound, from: frame, frames: frames)
            _ = between.add(sound, from: frame, frames: frames)
          }
          frame += frames
        }
        return [
          (0..<sums.count).map { sums.samples[$0] },
          (0..<between.count).map { between.samples[$0] },
        ]
      }
      let found = sums(areTogether: true)
      #expect(found == sums(areTogether: false) && found[1].count >= 300 / stride - 1)
    }
  }

  @Test(arguments: [1, 2]) func `frames below the silence are not kept`(channels: Int) {
    let sound = sound(channels, frames: 64)
    var sums = FrameSums(stride: 2, frameCount: 64)
    _ = sums.add(sound, from: 0, frames: 20)
    let peak = sums.add(sound, from: 20, frames: 30, silence: 2)
    #expect(peak < 2 && sums.count == 10)
    let groups = sums.add(sound, from: 20, frames: 32, silence: 2)
    #expect(groups < 2 && sums.count == 10)
    _ = sums.add(sound, from: 50, frames: 14)
    #expect(
      sums.count == 17
        && sums.samples[10] == (0..<channels).reduce(0) { $0 + sound[50 * channels + $1] })
  }

  @Test func `sums between those of others are half-way between them`() {
    let sound = sound(1, frames: 64)
    var sums = FrameSums(stride: 4, frameCount: 64)
    _ = sums.add(sound, from: 0, frames: 3)
    var between = FrameSums(stride: 4, frameCount: 64)
    between.begin(between: sums)
    _ = sums.add(sound, from: 3, frames: 33)
    _ = between.add(sound, from: 3, frames: 33)
    #expect(sums.samples[1] == sound[4] && between.samples[0] == sound[6])
    #expect(between.samples[1] == sound[10])
    sums.removeAll()
    #expect(sums.count == 0)
  }
}
