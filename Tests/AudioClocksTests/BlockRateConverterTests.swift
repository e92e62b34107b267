import AudioBasics
import AudioClocks
import Glibc
import TestSupport
import Testing

@Suite(.enabled(if: BlockRateConverter.isInstalled)) struct BlockRateConverterTests {
  /// Returns `frames` output frames for `input` followed by silence, converted in pieces of
  /// different lengths.
  private func convert(
    _ input: borrowing SampleBuffer, from: Int, to: Int, quality: Int = 5, frames: Int,
    piece: Int = 1024, room: Int = 700
  ) throws -> [Float] {
    let channels = input.channelCount
    var converter = try BlockRateConverter(
      channelCount: channels, inputRate: from, outputRate: to, quality: quality)
    var buffer = SampleBuffer(frameCount: room + 1, channelCount: channels)
    let silence = SampleBuffer(frameCount: piece, channelCount: channels)
    var output: [Float] = []
    var done = 0
    while output.count < frames * channels {
      let room = min(room, frames - output.count / channels)
      let isOver = done == input.frameCount
      let progress =
        isOver
        ? converter.convert(silence, frames: piece, into: &buffer, at: 1, room: room)
        : converter.convert(
          input, from: done, frames: min(piece, input.frameCount - done), into: &buffer, at: 1,
          room: room)
      if !isOver { done += progress.consumed }
      for index in 0..<progress.produced * channels { output.append(buffer[channels + index]) }
    }
    return output
  }

  /// Returns the sine fitted to the output for a sine of `hertz`, away from both ends, and its
  /// delay relative to the input in output frames.
  private func passed(
    _ hertz: Double, from: Int, to: Int, quality: Int
  ) throws -> (fit: SineFit, late: Double) {
    let input = FixedRateRun.sine(hertz, rate: from, frames: from)
    let output = try convert(input, from: from, to: to, quality: quality, frames: to / 2)
    let frames = to / 4..<to / 2
    let radians = 2 * .pi * hertz / Double(to)
    let fit = SineFit(Array(output[frames]), at: frames.map(Double.init), radians: radians)
    return (fit, atan2(-fit.parts.cosine, fit.parts.sine) / radians)
  }

  @Test(arguments: [
    (44100, 48000), (48000, 44100), (44100, 96000), (192_000, 44100), (22050, 48000),
    (44101, 47999), (96000, 48000),
  ])
  func `a sine keeps its purity, level and position`(from: Int, to: Int) throws {
    for (quality, decibels, level) in [(0, 110.0, 0.01), (5, 147, 0.001), (10, 147, 0.001)] {
      for hertz in [997.0, 9973] where hertz < 0.45 * Double(min(from, to)) {
        let (fit, late) = try passed(hertz, from: from, to: to, quality: quality)
        #expect(fit.rest > decibels)
        #expect(abs(20 * log10(fit.amplitude / 0.5)) < level)
        #expect(abs(late) < 1e-5)
      }
    }
  }

  @Test(arguments: [(44100, 48000), (48000, 44100)])
  func `20 kHz is within 0.01 dB, and aliases and images are below -140 dB`(from: Int, to: Int)
    throws
  {
    for quality in [5, 10] {
      let level = try passed(20000, from: from, to: to, quality: quality).fit.amplitude
      #expect(abs(20 * log10(level / 0.5)) < 0.01)
    }
    // Frequencies above half the lower rate: tones of the input, or images of such a tone.
    let half = Double(min(from, to)) / 2
    for hertz in [1.001 * half, 1.01 * half, 1.05 * half] {
      let isUp = to > from
      let played = isUp ? 2 * half - hertz : hertz
      let input = FixedRateRun.sine(played, rate: from, frames: from)
      let output = try convert(input, from: from, to: to, frames: to * 3 / 4)
      let frames = to / 4..<to * 3 / 4
      let places = frames.map(Double.init)
      var sound = Array(output[frames])
      if isUp {
        let radians = 2 * .pi * played / Double(to)
        let own = SineFit(sound, at: places, radians: radians).parts
        for (index, place) in places.enumerated() {
          let value = own.cosine * cos(radians * place) + own.sine * sin(radians * place)
          sound[index] = Float(Double(sound[index]) - value)
        }
      }
      let heard = sound.reduce(0) { $0 + Double($1) * Double($1) } / Double(sound.count)
      #expect(10 * log10(heard / 0.125) < -140)
    }
  }

  @Test func `blocks of any size, and any room, give the same samples`() throws {
    let noise = FixedRateRun.noise(frames: 20000, channels: 2)
    let whole = try convert(noise, from: 44100, to: 48000, frames: 21769)
    for (piece, room) in [(1, 1), (37, 5000), (20000, 64), (333, 1)] {
      let pieces = try convert(
        noise, from: 44100, to: 48000, frames: 21769, piece: piece, room: room)
      #expect(pieces == whole)
    }
  }

  @Test(arguments: [0, 5, 10], [(44100, 48000), (48000, 44100), (8000, 48000), (192_000, 44100)])
  func `after the settling frames earlier input has no effect`(
    quality: Int, rates: (from: Int, to: Int)
  ) throws {
    let settling = BlockRateConverter.settlingFrames(
      quality: quality, inputRate: rates.from, outputRate: rates.to)
    // One converter receives noise, the other receives only the end of the same noise.
    let ratio = RateRatio(inputRate: rates.from, outputRate: rates.to)
    let steps = 20000 / ratio.inputStep
    let (skipped, lead) = (steps * ratio.inputStep, steps * ratio.outputStep)
    let all = FixedRateRun.noise(frames: 60000, channels: 1)
    var late = SampleBuffer(frameCount: 60000 - skipped, channelCount: 1)
    late.replace(at: 0, with: all, from: skipped, frames: late.frameCount)
    let frames = 30000 * rates.to / rates.from
    let through = try convert(
      all, from: rates.from, to: rates.to, quality: quality, frames: lead + frames)
    let entered = try convert(
      late, from: rates.from, to: rates.to, quality: quality, frames: frames)
    let worst = (settling..<frames).map { abs(entered[$0] - through[lead + $0]) }.max() ?? 1
    // Relative to the noise's peak of 0.5; the last bit of a sample at that peak is -144 dB.
    #expect(20 * log10(Double(worst) / 0.5) < (quality == 0 ? -115 : -144))
  }

  @Test func `output that is not read is limited to a few blocks`() throws {
    let noise = FixedRateRun.noise(frames: 1024, channels: 1)
    var converter = try BlockRateConverter(channelCount: 1, inputRate: 44100, outputRate: 48000)
    var buffer = SampleBuffer(frameCount: 7, channelCount: 1)
    var (consumed, produced) = (0, 0)
    for _ in 0..<200_000 {
      let progress = converter.convert(noise, frames: 1024, into: &buffer, room: 7)
      consumed += progress.consumed
      produced += progress.produced
    }
    #expect(consumed - produced * 441 / 480 < 8192)
  }

  @Test func `rates, channels and qualities out of range are refused`() {
    for (channels, from, to, quality) in [
      (0, 44100, 48000, 5), (1025, 44100, 48000, 5), (1, 999, 48000, 5), (1, 44100, 0, 5),
      (1, 44100, 48000, -1), (1, 44100, 48000, 11),
    ] {
      #expect(throws: RateFailure.self) {
        _ = try BlockRateConverter(
          channelCount: channels, inputRate: from, outputRate: to, quality: quality)
      }
    }
  }

  @Test(arguments: [(1000, 1_536_000), (1_536_000, 1000), (44100, 1_535_999)])
  func `the most extreme rates are converted`(from: Int, to: Int) throws {
    let input = FixedRateRun.sine(50, rate: from, frames: from)
    let frames = to
    let output = try convert(input, from: from, to: to, frames: frames, piece: 4096, room: 4096)
    let middle = frames / 4..<frames * 3 / 4
    let worst = middle.map { frame in
      abs(Double(output[frame]) - 0.5 * sin(2 * .pi * 50 * Double(frame) / Double(to)))
    }.max()
    #expect((worst ?? 1) < 1e-3)
  }
}
