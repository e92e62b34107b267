import AudioBasics
import Testing

@Suite struct SampleBufferArrayTests {
  @Test(arguments: [1, 2, 3]) func `samples go into a buffer and come back`(channels: Int) {
    let samples = (0..<12).map { Float($0) / 16 }
    let buffer = SampleBuffer(samples, channelCount: channels)
    #expect(buffer.frameCount == 12 / channels && buffer.channelCount == channels)
    #expect([Float](buffer) == samples)
  }

  @Test func `no samples make an empty buffer`() {
    let buffer = SampleBuffer([], channelCount: 2)
    #expect(buffer.frameCount == 0 && buffer.channelCount == 2)
    #expect([Float](buffer).isEmpty)
  }

  @Test func `a sample has a frame and a channel`() {
    var buffer = SampleBuffer(frameCount: 3, channelCount: 2)
    buffer[1, 1] = 0.5
    buffer[2, 0] -= 0.25
    #expect([Float](buffer) == [0, 0, 0, 0.5, -0.25, 0])
    #expect(buffer[1, 1] == 0.5 && buffer[0, 0] == 0)
  }

  @Test func `sizes below zero are none`() {
    let buffer = SampleBuffer(frameCount: -1, channelCount: -2)
    #expect(buffer.frameCount == 0 && buffer.channelCount == 0 && buffer.sampleCount == 0)
  }
}
