import AudioBasics
import AudioClocks
import Glibc

/// Conversions of whole signals with a `RateConverter`, and test signals.
enum FixedRateRun {
  /// Converts `input` in pieces, and drains the converter.
  static func convert(
    _ input: borrowing SampleBuffer, with converter: inout RateConverter, piece: Int = 333,
    room: Int = 100
  ) -> [Float] {
    let channels = input.channelCount
    var buffer = SampleBuffer(frameCount: room + 1, channelCount: channels)
    var output: [Float] = []
    var done = 0
    while done < input.frameCount {
      let count = min(piece, input.frameCount - done)
      let (consumed, produced) = converter.convert(
        input, from: done, frames: count, into: &buffer, at: 1, room: room)
      done += consumed
      for index in 0..<produced * channels { output.append(buffer[channels + index]) }
    }
    while true {
      let produced = converter.drain(into: &buffer, room: room)
      if produced == 0 { return output }
      for index in 0..<produced * channels { output.append(buffer[index]) }
    }
  }

  /// Returns the same sine with an amplitude of 0.5 on every channel.
  static func sine(_ hertz: Double, rate: Int, frames: Int, channels: Int = 1) -> SampleBuffer {
    var buffer = SampleBuffer(frameCount: frames, channelCount: channels)
    for frame in 0..<frames {
      let sample = Float(0.5 * sin(2 * .pi * hertz * Double(frame) / Double(rate)))
      for channel in 0..<channels { buffer[frame * channels + channel] = sample }
    }
    return buffer
  }

  /// Returns reproducible noise that differs between the channels.
  static func noise(frames: Int, channels: Int) -> SampleBuffer {
    var buffer = SampleBuffer(frameCount: frames, channelCount: channels)
    var state: UInt64 = 1
    for index in 0..<buffer.sampleCount {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      buffer[index] = Float(state >> 40) * 0x1p-24 - 0.5
    }
    return buffer
  }
}
