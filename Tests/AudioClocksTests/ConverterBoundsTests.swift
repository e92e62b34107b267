import AudioBasics
import AudioClocks
import FatalErrors
import Glibc
import Testing

/// Tests of converters and filters with numbers that no caller may pass.
@Suite struct ConverterBoundsTests {
  @Test(arguments: [(0, 48000), (48000, 0), (-1, 48000), (1, .max), (.max, .max)])
  func `a converter of unsupported rates needs no frames to settle`(input: Int, output: Int) {
    for quality in [0, 5, 10] {
      let frames = BlockRateConverter.settlingFrames(
        quality: quality, inputRate: input, outputRate: output)
      #expect(frames == 0)
    }
  }

  @Test func `a prediction from or into too few frames causes a message`() async {
    expectFatalError(
      "The frames are outside of the buffer.\n",
      await #expect(processExitsWith: .signal(SIGABRT), observing: [\.standardErrorContent]) {
        var after = SampleBuffer(frameCount: 4, channelCount: 1)
        LinearExtrapolation.extrapolate(
          after: SampleBuffer(frameCount: 4, channelCount: 1), frames: -1, into: &after, count: 4)
      })
    expectFatalError(
      "The frames are outside of the buffer.\n",
      await #expect(processExitsWith: .signal(SIGABRT), observing: [\.standardErrorContent]) {
        var before = SampleBuffer(frameCount: 4, channelCount: 1)
        LinearExtrapolation.extrapolate(
          before: SampleBuffer(frameCount: 4, channelCount: 1), frames: 4, into: &before,
          count: -1)
      })
    expectFatalError(
      "The two buffers need the same number of channels.\n",
      await #expect(processExitsWith: .signal(SIGABRT), observing: [\.standardErrorContent]) {
        var after = SampleBuffer(frameCount: 4, channelCount: 2)
        LinearExtrapolation.extrapolate(
          after: SampleBuffer(frameCount: 4, channelCount: 1), frames: 4, into: &after, count: 2)
      })
  }

  @Test func `weights that do not fit cause a message`() async {
    expectFatalError(
      "The frames of the taps are too short for the weights.\n",
      await #expect(processExitsWith: .signal(SIGABRT), observing: [\.standardErrorContent]) {
        var taps = SampleBuffer(frameCount: 2, channelCount: 8)
        WindowedSinc.design(&taps, row: 0, halfWidth: 0, fraction: 0.5)
      })
    expectFatalError(
      "The frames of the taps are too short for the weights.\n",
      await #expect(processExitsWith: .signal(SIGABRT), observing: [\.standardErrorContent]) {
        var taps = SampleBuffer(frameCount: 2, channelCount: 8)
        WindowedSinc.design(&taps, row: 0, halfWidth: .max, fraction: 0.5)
      })
    expectFatalError(
      "The frames are outside of the buffer.\n",
      await #expect(processExitsWith: .signal(SIGABRT), observing: [\.standardErrorContent]) {
        var taps = SampleBuffer(frameCount: 2, channelCount: 8)
        WindowedSinc.design(&taps, row: 2, halfWidth: 4, fraction: 0.5)
      })
  }

  @Test func `weights are stored in their own frame, if it is longer, too`() {
    var taps = SampleBuffer(frameCount: 2, channelCount: 10)
    WindowedSinc.design(&taps, row: 1, halfWidth: 4, fraction: 0)
    #expect([Float](taps) == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0])
  }

  @Test func `a shift that is not a fraction of a frame causes a message`() async {
    expectFatalError(
      "A shift must be from 0 to 1 frame.\n",
      await #expect(processExitsWith: .signal(SIGABRT), observing: [\.standardErrorContent]) {
        _ = FrameShift(fraction: .nan, channelCount: 1)
      })
    expectFatalError(
      "A shift must be from 0 to 1 frame.\n",
      await #expect(processExitsWith: .signal(SIGABRT), observing: [\.standardErrorContent]) {
        _ = FrameShift(fraction: 1.5, channelCount: 1)
      })
  }
}
