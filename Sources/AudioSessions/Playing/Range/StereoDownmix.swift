import AudioBasics

/// Surround sound mixed down to stereo: the centre and each side's surrounds softer by 3 dB beside
/// the front, the deep effects left out, as ITU-R BS.775 has it, and all so much softer that
/// nothing clips.
struct StereoDownmix {
  private let left: [Float]
  private let right: [Float]

  /// Nil where frames of `channelCount` channels are not surround sound in a known order: 3 to 8
  /// channels in that of WAV files.
  init?(channelCount: Int) {
    // Left, right, centre, effects, and on from there.
    let half = Float(0.5).squareRoot()
    let sides: (left: [Float], right: [Float])? =
      switch channelCount {
      case 3: ([1, 0, half], [0, 1, half])
      case 4: ([1, 0, half, 0], [0, 1, 0, half])
      case 5: ([1, 0, half, half, 0], [0, 1, half, 0, half])
      case 6: ([1, 0, half, 0, half, 0], [0, 1, half, 0, 0, half])
      case 7: ([1, 0, half, 0, 0.5, half, 0], [0, 1, half, 0, 0.5, 0, half])
      case 8: ([1, 0, half, 0, half, 0, half, 0], [0, 1, half, 0, 0, half, 0, half])
      default: nil
      }
    guard let sides else { return nil }
    let sum = sides.left.reduce(0, +)
    left = sides.left.map { $0 / sum }
    right = sides.right.map { $0 / sum }
  }

  /// Mixes `frames` frames of `sound`, from `source` on, down to those of `stereo` from `target`
  /// on, which has two channels.
  func apply(
    _ sound: borrowing SampleBuffer, from source: Int, frames: Int,
    into stereo: inout SampleBuffer, at target: Int
  ) {
    for frame in 0..<frames {
      var sides: (left: Float, right: Float) = (0, 0)
      for channel in 0..<left.count {
        let sample = sound[(source + frame) * left.count + channel]
        sides.left += left[channel] * sample
        sides.right += right[channel] * sample
      }
      stereo[2 * (target + frame)] = sides.left
      stereo[2 * (target + frame) + 1] = sides.right
    }
  }
}
