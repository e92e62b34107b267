import AudioBasics
import Testing

@testable import AudioLevels

/// Tests of the true peaks of interleaved channels, which are processed in one vector, against
/// those of each channel alone.
@Suite struct TruePeakTests {
  @Test(arguments: [2, 3, 4], [44_100, 96_000, 192_000])
  func `the peak of each channel is that of the channel alone`(channelCount: Int, sampleRate: Int) {
    // A linear congruential generator, from -1 to 1.
    var state: UInt32 = 5
    func random() -> Float {
      state = state &* 1_664_525 &+ 1_013_904_223
      return Float(state >> 8) / Float(1 << 23) - 1
    }
    // The first channel is the loudest, and its peaks must not count for the others.
    let sound = (0..<6000).map { frame in
      (0..<channelCount).map { channel in
        let level: Float = 1 / Float(1 + 3 * channel)
        let swell = Float(frame % 1500) / 1500
        return level * swell * random()
      }
    }
    var together = TruePeaks(sampleRate: sampleRate, channelCount: channelCount)
    var alone: [Float] = []
    for channel in 0..<channelCount {
      var peaks = TruePeaks(sampleRate: sampleRate, channelCount: 1)
      var buffer = SampleBuffer(frameCount: sound.count, channelCount: 1)
      for frame in sound.indices { buffer[frame] = sound[frame][channel] }
      peaks.add(buffer, frames: sound.count)
      alone.append(peaks[0])
    }
    // Blocks of random lengths.
    var first = 0
    while first < sound.count {
      let count = min(1 + Int(clamping: 100 * (1 + random())), sound.count - first)
      var buffer = SampleBuffer(frameCount: count, channelCount: channelCount)
      for frame in 0..<count {
        for channel in 0..<channelCount {
          buffer[frame * channelCount + channel] = sound[first + frame][channel]
        }
      }
      together.add(buffer, frames: count)
      first += count
    }
    for channel in 0..<channelCount {
      #expect(abs(together[channel] - alone[channel]) < 1e-6 * alone[channel])
    }
    #expect(together.highest == (0..<channelCount).map { together[$0] }.max())
  }
}
