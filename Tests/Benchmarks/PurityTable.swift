import AudioBasics
import AudioClocks
import AudioFiles
import Glibc
import OtherConverters
import TestSupport

/// Prints, as Markdown, the noise and distortion that converters add to a sine at -1 dBFS while
/// their ratio varies by ±100 ppm with a period of 20 seconds, their level errors and their
/// processor time. The converters of this package and of other libraries run on the same machine.
func printPurity() {
  print(
    "| converter | all but the sine, 1 kHz | 10 kHz | level to 20 kHz within | 64 stereo frames |")
  print("| --- | ---: | ---: | ---: | ---: |")
  let all: [ComparedConverter] = [
    .ours(.quick), .ours(.standard), .ours(.fine), .samplerate(1), .samplerate(0), .alsaloop,
    .fixed, .speex,
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

  /// Returns the best-fitting sine in the output. The first half second, in which filters fill, is
  /// omitted.
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

  /// Returns the level of the sine over the level of the rest, in decibels.
  static func rest(_ converter: ComparedConverter, hertz: Double) -> Double? {
    fit(converter, hertz: hertz, seconds: 40) { 100 * sin(2 * .pi * $0 / 20) }?.rest
  }

  /// Returns the largest deviation from 0 dB of tones from 1 to 20 kHz.
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

  /// Returns the processor time in microseconds for 64 stereo frames: the minimum of many means
  /// over 100 blocks.
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
    // For the converters of this package: `convert` reads frames of the source from a position,
    // fills the target and returns how many frames it has read.
    func bestTime(
      _ convert: (borrowing SampleBuffer, _ from: Int, inout SampleBuffer, _ block: Int) -> Int
    ) -> Double {
      var source = SampleBuffer(frameCount: input.count / 2, channelCount: 2)
      for (index, sample) in input.enumerated() { source[index] = sample }
      var target = SampleBuffer(frameCount: 64, channelCount: 2)
      var done = 0
      for _ in 0..<passes {
        time { for block in 0..<blocks { done += convert(source, done, &target, block) } }
      }
      return best
    }
    if case .ours(let quality) = converter {
      var ours = VariableRateConverter(
        channelCount: 2, maximumInputPerOutput: 1.01, quality: quality)
      return bestTime { source, done, target, block in
        ours.setRatio(1 + 1e-6 * Double(block), over: 64)
        return ours.convert(
          source, from: done, frames: source.frameCount - done, into: &target, room: 64
        ).consumed
      }
    }
    if case .fixed = converter {
      guard
        var ours = try? RateConverter(channelCount: 2, inputRate: 44100, outputRate: 48000)
      else { return nil }
      return bestTime { source, done, target, _ in
        ours.convert(
          source, from: done, frames: source.frameCount - done, into: &target, room: 64
        ).consumed
      }
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

/// Prints, as Markdown, the purity of the sines in recordings, one row for each channel of `files`.
/// Returns false if a file cannot be read.
func printSinePurity(files: [String]) -> Bool {
  print("| recording | sine | level | all but the sine, median | in three of four | breaks |")
  print("| --- | ---: | ---: | ---: | ---: | ---: |")
  for file in files {
    do {
      let recording = try RecordedSines(path: file)
      for sine in recording.channels { print("| \(file) | \(sine.cells) |") }
    } catch {
      print("\(error.message) \(error.hint)")
      return false
    }
  }
  return !files.isEmpty
}

extension RecordedSine {
  /// The cells of the table row, without the name.
  fileprivate var cells: String {
    guard let hertz, let level else { return "none | | | | \(breaks)" }
    return "\(hertz.shown(1)) Hz | \(level.shown(2)) dB | \((-rest(atLeast: 0.5)).shown(1)) dB "
      + "| \((-rest(atLeast: 0.75)).shown(1)) dB | \(breaks)"
  }
}
