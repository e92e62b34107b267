import AudioBasics
import Glibc
import Testing

/// Tests of the bounds of a buffer with numbers whose sum does not fit in an integer.
@Suite struct BufferBoundsTests {
  private func isRefused(_ result: ExitTest.Result?) {
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.hasSuffix("outside of the buffer.\n"), "\(text)")
  }

  @Test func `frames far beyond a buffer are not copied`() async {
    isRefused(
      await #expect(processExitsWith: .signal(SIGABRT), observing: [\.standardErrorContent]) {
        var buffer = SampleBuffer(frameCount: 8, channelCount: 2)
        let other = SampleBuffer(frameCount: 8, channelCount: 2)
        buffer.copy(other, from: .max, at: .max, frames: .max)
      })
    isRefused(
      await #expect(processExitsWith: .signal(SIGABRT), observing: [\.standardErrorContent]) {
        var buffer = SampleBuffer(frameCount: 8, channelCount: 2)
        let other = SampleBuffer(frameCount: 8, channelCount: 1)
        buffer.copy(other, from: .max, at: 1, frames: 1)
      })
    isRefused(
      await #expect(processExitsWith: .signal(SIGABRT), observing: [\.standardErrorContent]) {
        var buffer = SampleBuffer(frameCount: 8, channelCount: 2)
        let other = SampleBuffer(frameCount: 8, channelCount: 2)
        buffer.replace(at: 4, with: other, from: 1, frames: .max - 3)
      })
  }

  @Test func `frames far beyond a buffer are not cleared or scaled`() async {
    isRefused(
      await #expect(processExitsWith: .signal(SIGABRT), observing: [\.standardErrorContent]) {
        var buffer = SampleBuffer(frameCount: 8, channelCount: 2)
        buffer.clear(from: .max, frames: .min + 5)
      })
    isRefused(
      await #expect(processExitsWith: .signal(SIGABRT), observing: [\.standardErrorContent]) {
        var buffer = SampleBuffer(frameCount: 8, channelCount: 2)
        buffer.scale(from: 6, frames: -4, by: 2)
      })
  }

  @Test func `four samples far beyond a buffer are neither read nor written`() async {
    isRefused(
      await #expect(processExitsWith: .signal(SIGABRT), observing: [\.standardErrorContent]) {
        var buffer = SampleBuffer(frameCount: 8, channelCount: 2)
        buffer.setFourSamples(.one, at: .max)
      })
    isRefused(
      await #expect(processExitsWith: .signal(SIGABRT), observing: [\.standardErrorContent]) {
        let buffer = SampleBuffer(frameCount: 8, channelCount: 2)
        print(buffer.fourSamples(at: .max - 3))
      })
  }

  @Test func `the last frames and samples of a buffer are within it`() {
    var buffer = SampleBuffer(frameCount: 8, channelCount: 2)
    buffer.setFourSamples(.one, at: 12)
    #expect(buffer.fourSamples(at: 12) == .one)
    var other = SampleBuffer(frameCount: 4, channelCount: 2)
    other.copy(buffer, from: 4, frames: 4)
    #expect([Float](other) == [0, 0, 0, 0, 1, 1, 1, 1])
    other.scale(from: 3, frames: 1, by: 2)
    other.clear(from: 2, frames: 1)
    other.clear(from: 4, frames: 0)
    #expect([Float](other) == [0, 0, 0, 0, 0, 0, 2, 2])
  }
}
