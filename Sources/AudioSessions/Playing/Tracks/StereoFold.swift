import AudioBasics

/// Surround sound for two ears: the centre and each side's surrounds softer by 3 dB beside the front,
/// the deep effects left out, as ITU-R BS.775 has it, and all so much softer that nothing clips.
struct StereoFold {
  private let left: [Float]
  private let right: [Float]

  /// Nil where frames of so many channels are not surround sound in a known order: 3 to 8 channels in
  /// that of WAV files.
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

  /// Fills the first frames of `folded`, which has two channels.
  func apply(_ sound: borrowing SampleBuffer, frames: Int, into folded: inout SampleBuffer) {
    for frame in 0..<frames {
      var ears: (Float, Float) = (0, 0)
      for channel in 0..<left.count {
        let sample = sound[frame * left.count + channel]
        ears.0 += left[channel] * sample
        ears.1 += right[channel] * sample
      }
      folded[2 * frame] = ears.0
      folded[2 * frame + 1] = ears.1
    }
  }
}
