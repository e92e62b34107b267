import AudioBasics
import AudioClocks
import Glibc
import Testing

/// Tests of the frames that a variable-rate converter reads and writes.
@Suite struct VariableRateConverterTests {
  /// Converts all of `input` in pieces of `piece` frames into a buffer of `room` frames. The ratio
  /// changes as a function of the number of output frames.
  private func convert(
    _ input: borrowing SampleBuffer, with converter: inout VariableRateConverter, piece: Int,
    room: Int, highest: Double
  ) -> [Float] {
    let channels = input.channelCount
    var output = SampleBuffer(frameCount: room + 1, channelCount: channels)
    var all: [Float] = []
    var done = 0
    var frames = 0
    // The loop is limited, in case a converter makes no progress.
    while frames < 10 * input.frameCount {
      // Ratio changes begin every 50 output frames, independently of the pieces.
      if frames % 50 == 0 {
        converter.setRatio(frames % 100 == 0 ? highest : 0.7, over: 40)
      }
      let count = min(piece, input.frameCount - done)
      let (consumed, produced) = converter.convert(
        input, from: done, frames: count, into: &output, at: 1,
        room: min(room, 50 - frames % 50))
      done += consumed
      frames += produced
      for index in 0..<produced * channels { all.append(output[channels + index]) }
      if done == input.frameCount && produced == 0 { break }
    }
    return all
  }

  @Test(arguments: [1, 2, 3, 8])
  func `blocks of any size give the same frames`(channels: Int) {
    let input = testSine(0.3, frames: 1000, channels: channels)
    var converter = VariableRateConverter(channelCount: channels, maximumInputPerOutput: 1.3)
    converter.reset(position: 3.7)
    let whole = convert(input, with: &converter, piece: 1000, room: 1000, highest: 1.3)
    #expect(whole.count > 800 * channels)
    for (piece, room) in [(1, 1), (1, 64), (64, 1), (7, 13), (1000, 3)] {
      converter.setRatio(1)
      converter.reset(position: 3.7)
      let parts = convert(input, with: &converter, piece: piece, room: room, highest: 1.3)
      #expect(parts == whole)
    }
  }

  @Test(arguments: [1, 2, 3, 8])
  func `channels do not affect each other`(channels: Int) {
    var together = VariableRateConverter(channelCount: channels, maximumInputPerOutput: 1.3)
    let input = testSine(0.3, frames: 500, channels: channels)
    let output = convert(input, with: &together, piece: 500, room: 100, highest: 1.3)
    for channel in 0..<channels {
      var single = SampleBuffer(frameCount: 500, channelCount: 1)
      for frame in 0..<500 { single[frame] = input[frame * channels + channel] }
      var alone = VariableRateConverter(channelCount: 1, maximumInputPerOutput: 1.3)
      let expected = convert(single, with: &alone, piece: 500, room: 100, highest: 1.3)
      #expect(stride(from: channel, to: output.count, by: channels).map { output[$0] } == expected)
    }
  }

  @Test(arguments: ConversionQuality.allCases)
  func `at ratio 1 the frames pass unchanged`(quality: ConversionQuality) {
    let reach = quality.reachFrames
    var input = SampleBuffer(frameCount: 300 + reach, channelCount: 2)
    for index in 0..<600 { input[index] = Float(sin(Double(index * index))) }
    var converter = VariableRateConverter(
      channelCount: 2, maximumInputPerOutput: 1.01, quality: quality)
    var output = SampleBuffer(frameCount: 400, channelCount: 2)
    // The silence that flushes the last frames is as long as the kernel's reach.
    #expect(converter.reachFrames == reach)
    let (consumed, produced) = converter.convert(
      input, frames: 300 + reach, into: &output, room: 400)
    #expect(consumed == 300 + reach)
    #expect(produced == 300)
    #expect((0..<600).allSatisfy { output[$0] == input[$0] })
  }

  @Test(arguments: [0.0, 0.25, 17.123456, 200.5, 1999.999])
  func `after a reset the next frame is at the requested position`(position: Double) {
    let input = testSine(0.2, frames: 2200)
    var converter = VariableRateConverter(channelCount: 1, maximumInputPerOutput: 2)
    // Earlier samples must have no influence.
    _ = VariableRateRun(input, count: 100, with: &converter)
    converter.reset(position: position)
    #expect(converter.position == position)
    var output = SampleBuffer(frameCount: 1, channelCount: 1)
    let (consumed, produced) = converter.convert(
      input, frames: 2200, into: &output, room: 1)
    #expect(produced == 1)
    #expect(consumed == Int(clamping: position) + converter.reachFrames + 1)
    // If the silence before the first frame is within the kernel's reach, the sine is not complete.
    guard position > 100 else { return }
    #expect(abs(Double(output[0]) - testLevel * sin(0.2 * position)) < 1e-5)
  }

  @Test func `no frame is lost or repeated while the ratio changes`() {
    let input = SampleBuffer(frameCount: 64, channelCount: 1)
    var output = SampleBuffer(frameCount: 64, channelCount: 1)
    var converter = VariableRateConverter(
      channelCount: 1, maximumInputPerOutput: 1.01, quality: .quick)
    var consumed = 0
    var ratio = 1.0
    var expected = 0.0
    for cycle in 0..<200 {
      let target = 1 + 0.01 * sin(Double(cycle) * 0.37)
      converter.setRatio(target, over: 64)
      var produced = 0
      while produced < 64 {
        let (taken, given) = converter.convert(
          input, frames: 64, into: &output, room: 64 - produced)
        consumed += taken
        produced += given
      }
      // 64 steps of linear growth, of which the last one reaches the target.
      expected += 64 * ratio + (target - ratio) * 32.5
      ratio = target
      #expect(abs(converter.position - expected) < 1e-9)
    }
    // The consumed frames are those needed for the last output frame, which is one step before the
    // next.
    #expect(consumed == Int(clamping: expected - ratio) + converter.reachFrames + 1)
  }

  @Test(arguments: [0.25, 1, 1.7, 4])
  func `silence stays silent`(ratio: Double) {
    let input = SampleBuffer(frameCount: 600, channelCount: 2)
    var converter = VariableRateConverter(channelCount: 2, maximumInputPerOutput: 4)
    var output = SampleBuffer(frameCount: 300, channelCount: 2)
    for index in 0..<600 { output[index] = 1 }
    converter.setRatio(ratio)
    let (_, produced) = converter.convert(input, frames: 600, into: &output, room: 300)
    #expect(produced > 0)
    #expect((0..<produced * 2).allSatisfy { output[$0] == 0 })
  }

  @Test(arguments: [0.25, 0.5, 1, 1.5, 4])
  func `silence as long as the kernel's reach flushes the last frame`(ratio: Double) {
    var converter = VariableRateConverter(channelCount: 1, maximumInputPerOutput: 4)
    converter.setRatio(ratio)
    let frames = 1000
    let input = SampleBuffer(frameCount: frames + converter.reachFrames, channelCount: 1)
    var output = SampleBuffer(frameCount: 5000, channelCount: 1)
    let (consumed, produced) = converter.convert(
      input, frames: input.frameCount, into: &output, room: 5000)
    #expect(consumed == input.frameCount)
    #expect(produced == Int(clamping: (Double(frames) / ratio).rounded(.up)))
  }
}
