import AudioBasics
import AudioClocks
import Glibc
import OtherConverters
import TestSupport

/// Prints, as Markdown, the errors of fixed-rate converters with sines at -1 dBFS, and their
/// processor time. The converters of this package and of other libraries run on the same machine.
func printFileConversion() {
  for (from, to) in [(44100, 48000), (48000, 44100)] {
    print(
      "| \(from) to \(to) Hz | 1 kHz: all but the sine | 10 kHz | level at 20 kHz "
        + "| image or alias of 0.99 of half the input's rate | ten minutes of stereo |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for converter in FileConverter.all {
      let run = FileConversionRun(converter, from: from, to: to)
      guard let low = run.fit(1000), let high = run.fit(10000), let edge = run.fit(20000),
        let seconds = run.seconds
      else {
        print("| \(converter.name) | not installed | | | | |")
        continue
      }
      let level = Decibels.level(Float(edge.amplitude / FileConversionRun.peak))
      print(
        "| \(converter.name) | -\(low.rest.shown(1)) dB | -\(high.rest.shown(1)) dB "
          + "| \(level.shown(3)) dB | \(run.foldedLevel.shown(1)) dB | \(seconds.shown(2)) s |")
    }
    print("")
  }
}

/// A converter at fixed rates.
enum FileConverter {
  /// The converter of this package for files, with the given quality.
  case ours(quality: Int)
  /// The converter of this package for devices, with the given quality.
  case audioThread(quality: Int)
  case soxr(recipe: Int)
  case samplerate
  case swresample

  static let all: [FileConverter] = [
    .ours(quality: 5), .soxr(recipe: 6), .ours(quality: 0), .soxr(recipe: 4), .swresample,
    .ours(quality: 10), .samplerate, .audioThread(quality: 5),
  ]

  var name: String {
    switch self {
    case .ours(let quality): "duplex, quality \(quality)"
    case .audioThread(let quality): "duplex, where a device's rate differs, quality \(quality)"
    case .soxr(6): "soxr VHQ"
    case .soxr: "soxr HQ"
    case .samplerate: "libsamplerate best"
    case .swresample: "ffmpeg (libswresample), as it is"
    }
  }
}

/// One converter between two rates.
struct FileConversionRun {
  static let peak = 0.891250938

  private let converter: FileConverter
  private let from: Int
  private let to: Int

  init(_ converter: FileConverter, from: Int, to: Int) {
    (self.converter, self.from, self.to) = (converter, from, to)
  }

  /// Returns the best-fitting sine of `hertz` in the output for that sine. The first half second,
  /// in which filters fill, is omitted. Nil if the converter is not installed.
  func fit(_ hertz: Double) -> SineFit? {
    sound(hertz).map { SineFit($0, at: places($0), radians: radians(hertz)) }
  }

  /// The level of the alias or image of a sine at 0.99 of half the input's rate, at the mirrored
  /// frequency, in decibels relative to the sine.
  var foldedLevel: Double {
    let hertz = 0.99 * Double(from) / 2
    let isUp = to > from
    guard let sound = sound(hertz) else { return 0 }
    let mirrored = Double(isUp ? from : to) - hertz
    var rest = sound
    if isUp {
      // Remove the sine itself, which is within the output's band.
      let own = SineFit(sound, at: places(sound), radians: radians(hertz)).parts
      for frame in rest.indices {
        let angle = radians(hertz) * Double(frame)
        rest[frame] = Float(
          Double(rest[frame]) - own.cosine * cos(angle) - own.sine * sin(angle))
      }
    }
    let image = SineFit(rest, at: places(rest), radians: radians(mirrored))
    return 20 * log10(image.amplitude / Self.peak)
  }

  /// The processor time in seconds for ten minutes of stereo: ten times the minimum of five
  /// measurements of one minute.
  var seconds: Double? {
    let input = sine(0.13, frames: 60 * from, channels: 2)
    let minimum = (0..<5).compactMap { _ in convert(input, channels: 2, taking: nil) }.min()
    return minimum.map { 10 * $0 }
  }

  private func radians(_ hertz: Double) -> Double { 2 * .pi * hertz / Double(to) }

  private func places(_ sound: [Float]) -> [Double] { sound.indices.map(Double.init) }

  private func sine(_ radians: Double, frames: Int, channels: Int) -> [Float] {
    (0..<frames * channels).map { Float(Self.peak * sin(radians * Double($0 / channels))) }
  }

  /// Returns one second of the output for a sine of `hertz`.
  private func sound(_ hertz: Double) -> [Float]? {
    let input = sine(2 * .pi * hertz / Double(from), frames: 2 * from, channels: 1)
    var output: [Float] = []
    guard convert(input, channels: 1, taking: { output += $0[..<$1] }) != nil else { return nil }
    return Array(output[(to / 2)..<(to / 2 + to)])
  }

  /// Converts all of `input` and passes each output block to `take`: the samples, and the number of
  /// valid samples. Returns the processor time in seconds; nil if the converter is not installed.
  private func convert(
    _ input: [Float], channels: Int, taking take: (([Float], Int) -> Void)?
  ) -> Double? {
    let kind: OtherConverter.Kind
    switch converter {
    case .ours(let quality):
      guard
        var ours = try? BlockRateConverter(
          channelCount: channels, inputRate: from, outputRate: to, quality: quality)
      else { return nil }
      return run(input, channels, take) {
        ours.convert($0, from: $1, frames: $2, into: &$3, room: $3.frameCount)
      }
    case .audioThread(let quality):
      guard
        var ours = try? RateConverter(
          channelCount: channels, inputRate: from, outputRate: to, quality: quality)
      else { return nil }
      return run(input, channels, take) {
        ours.convert($0, from: $1, frames: $2, into: &$3, room: $3.frameCount)
      }
    case .soxr(let recipe): kind = .soxr(recipe: recipe, inputRate: from, outputRate: to)
    case .samplerate: kind = .samplerate(0)
    case .swresample: kind = .swresample(inputRate: from, outputRate: to)
    }
    guard var other = OtherConverter.open(kind, channelCount: channels) else { return nil }
    var output = [Float](repeating: 0, count: 1024 * channels)
    var done = 0
    let began = clock()
    while done < input.count / channels {
      let (used, made) = other.convert(
        input, from: done, into: &output, outputPerInput: Double(to) / Double(from))
      take?(output, made * channels)
      guard used > 0 || made > 0 else { return nil }
      done += used
    }
    return Double(clock() - began) / Double(CLOCKS_PER_SEC)
  }

  /// Converts all of `input` in pieces, as the player does.
  private func run(
    _ input: [Float], _ channels: Int, _ take: (([Float], Int) -> Void)?,
    _ convert: (borrowing SampleBuffer, Int, Int, inout SampleBuffer) -> (
      consumed: Int, produced: Int
    )
  ) -> Double {
    var source = SampleBuffer(frameCount: input.count / channels, channelCount: channels)
    for (sample, value) in input.enumerated() { source[sample] = value }
    var output = SampleBuffer(frameCount: 1024, channelCount: channels)
    var done = 0
    let began = clock()
    while done < source.frameCount {
      let (consumed, produced) = convert(
        source, done, min(1024, source.frameCount - done), &output)
      done += consumed
      guard let take else { continue }
      take((0..<produced * channels).map { output[$0] }, produced * channels)
    }
    return Double(clock() - began) / Double(CLOCKS_PER_SEC)
  }
}
