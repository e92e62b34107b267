import AudioBasics
import AudioFiles

/// A downmix of many channels to stereo, in which all are attenuated so far that nothing clips. For
/// surround sound, as in ITU-R BS.775, the centre and the surrounds of each side are 3 dB below the
/// front, and the low-frequency effects are left out. Of channels without assigned loudspeakers,
/// such as those of several microphones, the first is left, the second is right and the others are
/// in the middle.
struct StereoDownmix {
  private let left: [Float]
  private let right: [Float]

  /// Creates a downmix of `channelCount` channels for these `speakers`, or for the usual ones.
  /// Returns nil for one or two channels, and for more than 8 without speakers.
  init?(channelCount: Int, speakers: [Speaker]?) {
    let named = speakers?.count == channelCount ? speakers : nil
    guard channelCount > 2,
      var speakers = named ?? Speaker.defaultLayout(channelCount: channelCount)
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

  /// Returns the gains of a speaker's channel in the left and in the right channel.
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

  /// Mixes `frames` frames of `sound`, from `source` on, down to those of `stereo`, which has two
  /// channels, from `target` on.
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
