import AudioBasics
import AudioClocks
import Glibc
import OtherConverters

/// A converter in the comparison.
enum ComparedConverter {
  case ours(ConversionQuality)
  /// libsamplerate, which changes its ratio linearly over a call.
  case samplerate(Int)
  /// libsamplerate in steps of 5 ppm every 15 seconds, as alsaloop uses it.
  case alsaloop
  /// speexdsp at a fixed ratio, because it cannot change the ratio continuously.
  case speex
  /// The converter of this package at the same fixed ratio as speexdsp.
  case fixed

  var name: String {
    switch self {
    case .ours(let quality): "duplex, \(quality)"
    case .samplerate(0): "libsamplerate best"
    case .samplerate(1): "libsamplerate medium"
    case .samplerate: "libsamplerate fastest"
    case .alsaloop: "alsaloop's (libsamplerate fastest, steps of 5 ppm)"
    case .speex: "speexdsp quality 5, fixed 44.1 to 48 kHz"
    case .fixed: "duplex quality 5, fixed 44.1 to 48 kHz"
    }
  }

  var inputRate: Double {
    switch self {
    case .speex, .fixed: 44100
    default: 48000
    }
  }
}

/// The output of a converter, one channel in blocks of 64 frames, and the position of each output
/// frame in the input, apart from a constant delay.
struct ConverterRun {
  private(set) var samples: [Float] = []
  private(set) var positions: [Double] = []
  private static let blockFrames = 64

  /// Converts `input` into `blocks` blocks; the input's clock is fast by `ppm(seconds)`. Nil if the
  /// library of another converter is not installed.
  init?(
    _ converter: ComparedConverter, _ input: [Float], blocks: Int, ppm: (Double) -> Double
  ) {
    let seconds = Double(Self.blockFrames) / 48000
    switch converter {
    case .ours(let quality):
      runOurs(quality, input, blocks: blocks) { 1 + ppm(Double($0) * seconds) * 1e-6 }
    case .samplerate(let number):
      guard let other = OtherConverter.open(.samplerate(number), channelCount: 1) else {
        return nil
      }
      run(other, input, blocks: blocks) { 1 + ppm(Double($0) * seconds) * 1e-6 }
    case .alsaloop:
      guard let other = OtherConverter.open(.samplerate(2), channelCount: 1) else { return nil }
      run(other, input, blocks: blocks) {
        1 + 5e-6 * (1 + (Double($0) * seconds / 15).rounded(.down))
      }
    case .speex:
      let kind = OtherConverter.Kind.speex(quality: 5, inputRate: 44100, outputRate: 48000)
      guard let other = OtherConverter.open(kind, channelCount: 1) else { return nil }
      run(other, input, blocks: blocks) { _ in 44100.0 / 48000 }
    case .fixed: runFixed(input, blocks: blocks)
    }
  }

  private mutating func runFixed(_ input: [Float], blocks: Int) {
    guard
      var converter = try? RateConverter(channelCount: 1, inputRate: 44100, outputRate: 48000)
    else { return }
    var source = SampleBuffer(frameCount: input.count, channelCount: 1)
    for (index, sample) in input.enumerated() { source[index] = sample }
    var target = SampleBuffer(frameCount: blocks * Self.blockFrames, channelCount: 1)
    let made = converter.convert(
      source, frames: input.count, into: &target, room: target.frameCount
    ).produced
    for frame in 0..<made {
      samples.append(target[frame])
      positions.append(Double(frame) * 44100 / 48000)
    }
  }

  private mutating func runOurs(
    _ quality: ConversionQuality, _ input: [Float], blocks: Int, ratio: (Int) -> Double
  ) {
    var converter = VariableRateConverter(
      channelCount: 1, maximumInputPerOutput: 1.01, quality: quality)
    var source = SampleBuffer(frameCount: input.count, channelCount: 1)
    for (index, sample) in input.enumerated() { source[index] = sample }
    var target = SampleBuffer(frameCount: 1, channelCount: 1)
    converter.setRatio(ratio(0))
    var done = 0
    for block in 0..<blocks {
      converter.setRatio(ratio(block), over: Self.blockFrames)
      for _ in 0..<Self.blockFrames {
        let position = converter.position
        let moved = converter.convert(
          source, from: done, frames: input.count - done, into: &target, room: 1)
        done += moved.consumed
        guard moved.produced == 1 else { return }
        samples.append(target[0])
        positions.append(position)
      }
    }
  }

  /// Runs libsamplerate 0.2, which changes the ratio from the previous call's to this call's in
  /// equal steps but omits the last step. The next call starts from the ratio reached.
  private mutating func run(
    _ other: consuming OtherConverter, _ input: [Float], blocks: Int, ratio: (Int) -> Double
  ) {
    var block = [Float](repeating: 0, count: Self.blockFrames)
    // Kept separately, because sums of large numbers are rounded and the rounding errors
    // accumulate.
    var (whole, part) = (0.0, 0.0)
    var last = 1 / ratio(0)
    var done = 0
    for number in 0..<blocks {
      let wanted = 1 / ratio(number)
      let (used, made) = other.convert(input, from: done, into: &block, outputPerInput: wanted)
      done += used
      var current = last
      for frame in 0..<made {
        samples.append(block[frame])
        positions.append(whole + part)
        if abs(last - wanted) > 1e-10 {
          current = last + Double(frame) * (wanted - last) / Double(Self.blockFrames)
        } else {
          current = last
        }
        part += 1 / current
        whole += part.rounded(.down)
        part -= part.rounded(.down)
      }
      guard made > 0 else { continue }
      last = current
    }
  }
}
