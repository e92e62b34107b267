import AudioBasics
import AudioClocks
import Glibc
import Testing

@Suite struct RateConverterTests {
  /// Converts `input` in pieces of odd sizes, and drains.
  private func convert(
    _ input: borrowing SampleBuffer, with converter: inout RateConverter, piece: Int = 333
  ) -> [Float] {
    let channels = input.channelCount
    var buffer = SampleBuffer(frameCount: 101, channelCount: channels)
    var output: [Float] = []
    var done = 0
    while done < input.frameCount {
      let count = min(piece, input.frameCount - done)
      let (consumed, produced) = converter.convert(
        input, from: done, frames: count, into: &buffer, at: 1, room: 100)
      done += consumed
      for index in 0..<produced * channels { output.append(buffer[channels + index]) }
    }
    while true {
      let produced = converter.drain(into: &buffer, room: 97)
      if produced == 0 { return output }
      for index in 0..<produced * channels { output.append(buffer[index]) }
    }
  }

  private func sine(
    _ hertz: Double, rate: Int, frames: Int, channels: Int = 1
  ) -> SampleBuffer {
    var buffer = SampleBuffer(frameCount: frames, channelCount: channels)
    for frame in 0..<frames {
      let sample = Float(0.5 * sin(2 * .pi * hertz * Double(frame) / Double(rate)))
      for channel in 0..<channels { buffer[frame * channels + channel] = sample }
    }
    return buffer
  }

  @Test(arguments: [
    (44100, 48000), (48000, 44100), (8000, 768_000), (768_000, 8000), (44101, 48000),
    (48000, 48000), (96000, 48000), (11025, 192_000), (44100, 767_999), (767_999, 44100),
  ])
  func `N frames become exactly N times the ratio, rounded up`(from: Int, to: Int) throws {
    for frames in [0, 1, 100, 4711] {
      let input = SampleBuffer(frameCount: frames, channelCount: 2)
      var converter = try RateConverter(channelCount: 2, inputRate: from, outputRate: to)
      converter.skipLeadingSilence()
      let output = convert(input, with: &converter)
      #expect(output.count == 2 * ((frames * to + from - 1) / from))
    }
  }

  @Test(arguments: [
    (44100, 48000), (48000, 44100), (44101, 48000), (96000, 44100), (8000, 48000), (48000, 48000),
    (44100, 767_999), (767_999, 44100), (96001, 95999),
  ])
  func `what is converted lines up with what was`(from: Int, to: Int) throws {
    let input = sine(997, rate: from, frames: from / 2, channels: 2)
    var converter = try RateConverter(channelCount: 2, inputRate: from, outputRate: to)
    converter.skipLeadingSilence()
    #expect(converter.outputDelayFrames == 0)
    let output = convert(input, with: &converter)
    // Away from the ends, where the filter hears the silence outside.
    let step = 2 * Double.pi * 997 / Double(to)
    var worst = 0.0
    for frame in to / 10..<to * 4 / 10 {
      let expected = 0.5 * sin(step * Double(frame))
      worst = max(worst, abs(Double(output[2 * frame]) - expected))
    }
    #expect(worst < 1e-4)
  }

  @Test func `without the skip, everything is late by the delay`() throws {
    var input = SampleBuffer(frameCount: 1000, channelCount: 1)
    input[441] = 1
    var converter = try RateConverter(channelCount: 1, inputRate: 44100, outputRate: 88200)
    let delay = converter.outputDelayFrames
    #expect(delay > 10)
    let output = convert(input, with: &converter)
    let peak = output.indices.max { output[$0] < output[$1] }
    #expect(peak == 882 + Int(delay))
    #expect(output.count == 2000 + Int(delay))
  }

  @Test(arguments: [(3, 95.0), (5, 100), (8, 115), (10, 125)])
  func `a converted sine is clean`(quality: Int, decibels: Double) throws {
    let input = sine(997, rate: 44100, frames: 66150)
    var converter = try RateConverter(
      channelCount: 1, inputRate: 44100, outputRate: 48000, quality: quality)
    converter.skipLeadingSilence()
    let output = convert(input, with: &converter)
    // The sine that fits best over a second, whole periods; what it leaves over is noise.
    let first = 4800
    let count = 48000
    var (real, imaginary, power) = (0.0, 0.0, 0.0)
    for frame in first..<first + count {
      let phase = 2 * .pi * 997 * Double(frame) / 48000
      real += 2 * Double(output[frame]) * cos(phase) / Double(count)
      imaginary += 2 * Double(output[frame]) * sin(phase) / Double(count)
    }
    for frame in first..<first + count {
      let phase = 2 * .pi * 997 * Double(frame) / 48000
      let rest = Double(output[frame]) - real * cos(phase) - imaginary * sin(phase)
      power += rest * rest / Double(count)
    }
    let ratio = 10 * log10((real * real + imaginary * imaginary) / 2 / power)
    #expect(ratio >= decibels)
  }

  @Test func `pieces of any size give the same frames`() throws {
    let input = sine(440, rate: 48000, frames: 5000, channels: 2)
    var reference: [Float] = []
    for piece in [1, 64, 999, 5000] {
      var converter = try RateConverter(channelCount: 2, inputRate: 48000, outputRate: 44100)
      converter.skipLeadingSilence()
      let output = convert(input, with: &converter, piece: piece)
      if reference.isEmpty { reference = output }
      #expect(output == reference)
    }
  }

  @Test(arguments: [(44100, 48000), (48000, 8000)])
  func `after a reset nothing is left of what passed`(from: Int, to: Int) throws {
    let loud = sine(300, rate: from, frames: 1234, channels: 3)
    let next = sine(440, rate: from, frames: 2000, channels: 3)
    var fresh = try RateConverter(channelCount: 3, inputRate: from, outputRate: to)
    fresh.skipLeadingSilence()
    let expected = convert(next, with: &fresh)
    _ = convert(loud, with: &fresh)
    fresh.reset()
    #expect(convert(next, with: &fresh) == expected)
  }

  @Test func `what cannot be converted is refused`() {
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
