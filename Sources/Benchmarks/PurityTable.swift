import AudioBasics
import AudioClocks
import Glibc
import OtherConverters

/// Prints, as Markdown, what converters add to a sine at -1 dBFS while their ratio wanders by
/// 100 ppm to and fro in 20 seconds, what they take from it, and what they cost: ours, those of
/// others, all in one run on one machine.
func printPurity() {
  print(
    "| converter | all but the sine, 1 kHz | 10 kHz | level to 20 kHz within | 64 stereo frames |")
  print("| --- | ---: | ---: | ---: | ---: |")
  let all: [ComparedConverter] = [
    .ours(.quick), .ours(.standard), .ours(.fine), .samplerate(1), .samplerate(0), .alsaloop,
    .speex,
  ]
  for converter in all {
    guard let low = PurityRow.rest(converter, hertz: 1000),
      let high = PurityRow.rest(converter, hertz: 10000),
      let level = PurityRow.level(converter), let cost = PurityRow.microseconds(converter)
    else {
      print("| \(converter.name) | not installed | | | |")
      continue
    }
    print(
      "| \(converter.name) | -\(low.shown(1)) dB | -\(high.shown(1)) dB | \(level.shown(3)) dB "
        + "| \(cost.shown(2)) us |")
  }
}

/// The figures of one converter.
enum PurityRow {
  private static let peak = 0.891250938

  private static func sine(_ radians: Double, frames: Int, channels: Int = 1) -> [Float] {
    (0..<frames * channels).map { Float(peak * sin(radians * Double($0 / channels))) }
  }

  /// Half a second at the beginning, where filters fill, is left out.
  private static func fit(
    _ converter: ComparedConverter, hertz: Double, seconds: Double, ppm: (Double) -> Double
  ) -> SineFit? {
    let radians = 2 * .pi * hertz / converter.inputRate
    let blocks = Int(clamping: seconds * 750)
    let input = sine(radians, frames: Int(clamping: seconds * 48000 * 1.001) + 4096)
    guard let run = ConverterRun(converter, input, blocks: blocks, ppm: ppm) else { return nil }
    let from = min(24000, run.samples.count / 2)
    return SineFit(
      Array(run.samples[from...]), at: Array(run.positions[from...]), radians: radians)
  }

  /// How far below the sine all else lies, in decibels.
  static func rest(_ converter: ComparedConverter, hertz: Double) -> Double? {
    fit(converter, hertz: hertz, seconds: 40) { 100 * sin(2 * .pi * $0 / 20) }?.rest
  }

  /// The largest departure from 0 dB of tones from 1 to 20 kHz.
  static func level(_ converter: ComparedConverter) -> Double? {
    var worst = 0.0
    for hertz in stride(from: 1000.0, through: 20000, by: 1000) {
      guard let fit = fit(converter, hertz: hertz, seconds: 1, ppm: { _ in 50 }) else {
        return nil
      }
      worst = max(worst, abs(20 * log10(fit.amplitude / peak)))
    }
    return worst
  }

  /// Processor time for 64 stereo frames: the least of many hundreds of frames' means.
  static func microseconds(_ converter: ComparedConverter) -> Double? {
    let passes = 60
    let blocks = 100
    let input = sine(0.13, frames: (passes + 1) * blocks * 65, channels: 2)
    var best = Double.infinity
    func time(_ pass: () -> Void) {
      let began = clock()
      pass()
      best = min(best, Double(clock() - began) / Double(CLOCKS_PER_SEC) * 1e6 / Double(blocks))
    }
    if case .ours(let quality) = converter {
      var ours = VariableRateConverter(
        channelCount: 2, maximumInputPerOutput: 1.01, quality: quality)
      var source = SampleBuffer(frameCount: input.count / 2, channelCount: 2)
      for (index, sample) in input.enumerated() { source[index] = sample }
      var target = SampleBuffer(frameCount: 64, channelCount: 2)
      var done = 0
      for _ in 0..<passes {
        time {
          for block in 0..<blocks {
            ours.setRatio(1 + 1e-6 * Double(block), over: 64)
            done +=
              ours.convert(
                source, from: done, frames: source.frameCount - done, into: &target, room: 64
              ).consumed
          }
        }
      }
      return best
    }
    let kind: OtherConverter.Kind =
      switch converter {
      case .samplerate(let number): .samplerate(number)
      case .alsaloop: .samplerate(2)
      default: .speex(quality: 5, inputRate: 44100, outputRate: 48000)
      }
    guard var other = OtherConverter.open(kind, channelCount: 2) else { return nil }
    var output = [Float](repeating: 0, count: 128)
    var done = 0
    for _ in 0..<passes {
      time {
        for block in 0..<blocks {
          let ratio = 1 / (1 + 1e-6 * Double(block))
          done += other.convert(input, from: done, into: &output, outputPerInput: ratio).used
        }
      }
    }
    return best
  }
}
