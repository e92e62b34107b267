/// The loudspeaker that a channel is meant for, in the order of the bits of a WAV file's mask.
public enum Speaker: Int, Sendable {
  /// In front of a listener.
  case frontLeft, frontRight, frontCentre
  /// Wherever low frequencies are played.
  case lowFrequency
  /// Behind the listener.
  case backLeft, backRight
  /// In front, half-way to the middle.
  case frontLeftOfCentre, frontRightOfCentre
  /// Behind the listener, in the middle.
  case backCentre
  /// Beside the listener.
  case sideLeft, sideRight
  /// One that is none of these, or none in particular.
  case other

  /// The usual arrangement of `channelCount` channels in the order of WAV files; nil where there is
  /// none.
  public static func usual(channelCount: Int) -> [Speaker]? {
    let front: [Speaker] = [.frontLeft, .frontRight, .frontCentre]
    let back: [Speaker] = [.backLeft, .backRight]
    let side: [Speaker] = [.sideLeft, .sideRight]
    return switch channelCount {
    case 2: [.frontLeft, .frontRight]
    case 3: front
    case 4: [.frontLeft, .frontRight] + back
    case 5: front + back
    case 6: front + [.lowFrequency] + back
    case 7: front + [.lowFrequency, .backCentre] + side
    case 8: front + [.lowFrequency] + back + side
    default: nil
    }
  }
}
