import AudioBasics
import AudioClocks
import Glibc

/// -1 dBFS.
let testLevel = 0.891

/// Returns a sine of `radians` per frame at -1 dBFS on all channels, each channel a quarter period
/// later than the one before.
func testSine(_ radians: Double, frames: Int, channels: Int = 1) -> SampleBuffer {
  var buffer = SampleBuffer(frameCount: frames, channelCount: channels)
  for frame in 0..<frames {
    for channel in 0..<channels {
      let phase = radians * Double(frame) - Double(channel) * .pi / 2
      buffer[frame * channels + channel] = Float(testLevel * sin(phase))
    }
  }
  return buffer
}

/// The output samples, and their positions in the input.
struct VariableRateRun {
  var samples: [Float] = []
  var positions: [Double] = []

  /// Converts `count` frames of one channel from position 400.3 on, one at a time; `steer` is
  /// called before each frame.
  init(
    _ input: borrowing SampleBuffer, count: Int, with converter: inout VariableRateConverter,
    steer: (Int, inout VariableRateConverter) -> Void = { _, _ in }
  ) {
    var output = SampleBuffer(frameCount: 1, channelCount: 1)
    var done = 0
    converter.reset(position: 400.3)
    for frame in 0..<count {
      steer(frame, &converter)
      let position = converter.position
      let (consumed, produced) = converter.convert(
        input, from: done, frames: input.frameCount - done, into: &output, room: 1)
      done += consumed
      guard produced == 1 else { return }
      samples.append(output[0])
      positions.append(position)
    }
  }
}
