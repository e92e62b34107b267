import AudioBasics
import AudioSessions
import Testing

@Suite struct GainRampTests {
  @Test(arguments: [1, 7, 64, 1000])
  func `a soft start rises without a step and then changes nothing`(period: Int) {
    var ramp = GainRamp(to: 1, frames: 480)
    var last: Float = 0
    var frame = 0
    while frame < 1000 {
      var buffer = SampleBuffer(frameCount: period, channelCount: 2)
      for index in 0..<buffer.sampleCount { buffer[index] = 0.3 }
      ramp.apply(to: &buffer, frames: period)
      for index in 0..<period {
        #expect(buffer[2 * index] == buffer[2 * index + 1])
        #expect(buffer[2 * index] - last <= 0.3 / 480 + 1e-6 && buffer[2 * index] >= last - 1e-6)
        last = buffer[2 * index]
        if frame + index >= 480 { #expect(buffer[2 * index] == 0.3) }
      }
      frame += period
    }
    #expect(ramp.isTransparent)
  }
}
