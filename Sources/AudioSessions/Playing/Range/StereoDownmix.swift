import AudioBasics
import AudioFiles

/// Many channels mixed down to stereo, all so much softer that nothing clips. Of surround sound, as
/// ITU-R BS.775 has it, the centre and each side's surrounds are softer by 3 dB beside the front,
/// and the deep effects left out. Of channels that are for no loudspeaker in particular, such as
/// those of several microphones, the first is left, the second right and the others in the middle.
struct StereoDownmix {
  private let left: [Float]
  private let right: [Float]

  /// Of `channelCount` channels, which are meant for these `speakers`, or for the usual ones. nil
  /// for one or two channels, and for more than 8 without speakers.
  init?(channelCount: Int, speakers: [Speaker]?) {
    let named = speakers?.count == channelCount ? speakers : nil
    guard channelCount > 2,
      var speakers = named ?? Speaker.usual(channelCount: channelCount)
    else { return nil }
    var sides = speakers.map(Self.shares)
    let isStereo = sides.contains { $0.left > 0 } && sides.contains { $0.right > 0 }
    if speakers.allSatisfy({ $0 == .other }) || !isStereo {
      speakers = Array(repeating: .other, count: channelCount)
      speakers.replaceSubrange(0..<2, with: [.frontLeft, .frontRight])
      sides = speakers.map(Self.shares)
    }
    let sum = max(
      sides.reduce(0) { $0 + $1.left }, sides.reduce(0) { $0 + $1.right })
    left = sides.map { $0.left / sum }
    right = sides.map { $0.right / sum }
  }

  /// How much of a speaker's channel each side gets.
  private static func shares(of speaker: Speaker) -> (left: Float, right: Float) {
    let half = Float(0.5).squareRoot()
    return switch speaker {
    case .frontLeft, .frontLeftOfCentre: (1, 0)
    case .frontRight, .frontRightOfCentre: (0, 1)
    case .backLeft, .sideLeft: (half, 0)
    case .backRight, .sideRight: (0, half)
    case .frontCentre, .other: (half, half)
    case .backCentre: (0.5, 0.5)
    case .lowFrequency: (0, 0)
    }
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
