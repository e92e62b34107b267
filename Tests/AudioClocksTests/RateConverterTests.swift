import AudioBasics
import AudioClocks
import Glibc
import Testing

@Suite struct RateConverterTests {
  @Test(arguments: [
    (44100, 48000), (48000, 44100), (8000, 768_000), (768_000, 8000), (44101, 48000),
    (48000, 48000), (96000, 48000), (11025, 192_000), (44100, 767_999), (767_999, 44100),
  ])
  func `N frames become exactly N times the ratio, rounded up`(from: Int, to: Int) throws {
    for frames in [0, 1, 100, 4711] {
      let input = SampleBuffer(frameCount: frames, channelCount: 2)
      var converter = try RateConverter(channelCount: 2, inputRate: from, outputRate: to)
      converter.skipLeadingSilence()
      let output = FixedRateRun.convert(input, with: &converter)
      #expect(output.count == 2 * ((frames * to + from - 1) / from))
    }
  }

  @Test(arguments: [
    (44100, 48000), (48000, 44100), (44101, 48000), (96000, 44100), (8000, 48000), (48000, 48000),
    (44100, 767_999), (767_999, 44100), (96001, 95999),
  ])
  func `the output is aligned with the input`(from: Int, to: Int) throws {
    let input = FixedRateRun.sine(997, rate: from, frames: from / 2, channels: 2)
    var converter = try RateConverter(channelCount: 2, inputRate: from, outputRate: to)
    converter.skipLeadingSilence()
    #expect(converter.outputDelayFrames == 0)
    let output = FixedRateRun.convert(input, with: &converter)
    // Away from the ends, where the filter includes the silence outside.
    let step = 2 * Double.pi * 997 / Double(to)
    var worst = 0.0
    for frame in to / 10..<to * 4 / 10 {
      let expected = 0.5 * sin(step * Double(frame))
      worst = max(worst, abs(Double(output[2 * frame]) - expected))
    }
    #expect(worst < 1e-4)
  }

  @Test func `without skipLeadingSilence() the output is late by the delay`() throws {
    var input = SampleBuffer(frameCount: 1000, channelCount: 1)
    input[441] = 1
    var converter = try RateConverter(channelCount: 1, inputRate: 44100, outputRate: 88200)
    let delay = converter.outputDelayFrames
    #expect(delay > 10)
    let output = FixedRateRun.convert(input, with: &converter)
    let peak = output.indices.max { output[$0] < output[$1] }
    #expect(peak == 882 + Int(clamping: delay))
    #expect(output.count == 2000 + Int(clamping: delay))
  }

  @Test(arguments: [
    (48000, 44100, 2), (44100, 48000, 1), (44100, 48000, 6), (8000, 44100, 3), (96000, 8000, 2),
    (44101, 48000, 2), (48000, 48000, 2),
  ])
  func `blocks of any size give the same frames`(from: Int, to: Int, channels: Int) throws {
    let input = FixedRateRun.noise(frames: 5000, channels: channels)
    var reference: [Float] = []
    for (piece, room) in [(5000, 5000), (1, 100), (64, 1), (999, 7), (5000, 3)] {
      var converter = try RateConverter(
        channelCount: channels, inputRate: from, outputRate: to, quality: 4)
      converter.skipLeadingSilence()
      let output = FixedRateRun.convert(input, with: &converter, piece: piece, room: room)
      if reference.isEmpty { reference = output }
      #expect(output == reference)
    }
  }

  @Test(arguments: [1, 2, 3, 6], [(44100, 48000), (48000, 16000)])
  func `every channel is converted as if it were alone`(channels: Int, rates: (Int, Int)) throws {
    let input = FixedRateRun.noise(frames: 1000, channels: channels)
    var converter = try RateConverter(
      channelCount: channels, inputRate: rates.0, outputRate: rates.1)
    converter.skipLeadingSilence()
    let output = FixedRateRun.convert(input, with: &converter)
    for channel in 0..<channels {
      var single = SampleBuffer(frameCount: input.frameCount, channelCount: 1)
      for frame in 0..<input.frameCount { single[frame] = input[frame * channels + channel] }
      var alone = try RateConverter(channelCount: 1, inputRate: rates.0, outputRate: rates.1)
      alone.skipLeadingSilence()
      let expected = FixedRateRun.convert(single, with: &alone)
      let ours = stride(from: channel, to: output.count, by: channels).map { output[$0] }
      #expect(ours == expected)
    }
  }

  @Test(arguments: 0...10, [(44100, 88200), (48000, 48000 / 3), (44100, 48000)])
  func `an impulse keeps its position`(quality: Int, rates: (Int, Int)) throws {
    for place in [0, 441, 882] {
      var input = SampleBuffer(frameCount: 1323, channelCount: 1)
      input[place] = 1
      var converter = try RateConverter(
        channelCount: 1, inputRate: rates.0, outputRate: rates.1, quality: quality)
      converter.skipLeadingSilence()
      let output = FixedRateRun.convert(input, with: &converter)
      // These positions are whole output frames for all three pairs of rates.
      let expected = place * rates.1 / rates.0
      #expect(output.indices.max { output[$0] < output[$1] } == expected)
      // The filter is symmetric.
      for offset in 0..<min(20, expected) {
        #expect(abs(output[expected - offset] - output[expected + offset]) < 1e-6)
      }
    }
  }

  @Test(arguments: [
    (8, 44100, 48000, 96), (0, 44100, 48000, 4), (5, 8000, 192_000, 64), (10, 48000, 192_000, 128),
    (5, 48000, 44100, 72), (5, 192_000, 48000, 256), (10, 48000, 8000, 768),
  ])
  func `the delay is half the filter's length`(quality: Int, from: Int, to: Int, reach: Int) throws
  {
    let converter = try RateConverter(
      channelCount: 2, inputRate: from, outputRate: to, quality: quality)
    let delay = converter.outputDelayFrames
    #expect(abs(delay * Double(from) / Double(to) - Double(reach)) < 1e-9)
  }

  @Test(arguments: [(44100, 48000), (48000, 8000)])
  func `after a reset earlier input has no effect`(from: Int, to: Int) throws {
    let loud = FixedRateRun.sine(300, rate: from, frames: 1234, channels: 3)
    let next = FixedRateRun.sine(440, rate: from, frames: 2000, channels: 3)
    var fresh = try RateConverter(channelCount: 3, inputRate: from, outputRate: to)
    fresh.skipLeadingSilence()
    let expected = FixedRateRun.convert(next, with: &fresh)
    _ = FixedRateRun.convert(loud, with: &fresh)
    fresh.reset()
    #expect(FixedRateRun.convert(next, with: &fresh) == expected)
  }

  @Test func `unsupported rates, channels and qualities are refused`() {
    func refusal(_ channels: Int, _ from: Int, _ to: Int, _ quality: Int) -> RateFailure? {
      do throws(RateFailure) {
        _ = try RateConverter(
          channelCount: channels, inputRate: from, outputRate: to, quality: quality)
        return nil
      } catch {
        return error
      }
    }
    #expect(refusal(2, 0, 48000, 5) == .unsupportedRate(0))
    #expect(refusal(2, 48000, 2_000_000, 5) == .unsupportedRate(2_000_000))
    #expect(refusal(0, 48000, 44100, 5) == .unsupportedChannelCount(0))
    #expect(refusal(2, 48000, 44100, 11) == .unsupportedQuality(11))
  }
}
