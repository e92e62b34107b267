import AudioBasics
import Testing

@Suite struct SampleBufferTests {
  @Test func `samples are read and written as interleaved spans`() {
    var buffer = SampleBuffer(frameCount: 3, channelCount: 2)
    var samples = buffer.mutableSamples
    #expect(samples.count == 6)
    for index in samples.indices { samples[index] = Float(index) }
    #expect(buffer[5] == 5)
    buffer[2] = -1
    let read = buffer.samples
    #expect(read.indices.map { read[$0] } == [0, 1, -1, 3, 4, 5])
  }
}
