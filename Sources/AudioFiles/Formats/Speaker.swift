/// The loudspeaker position of a channel, in the order of the bits of the channel mask of WAV
/// files.
public enum Speaker: Int, Sendable {
  /// In front of the listener.
  case frontLeft, frontRight, frontCentre
  /// Subwoofer, at any position.
  case lowFrequency
  /// Behind the listener.
  case backLeft, backRight
  /// In front, half-way between the left or right speaker and the centre.
  case frontLeftOfCentre, frontRightOfCentre
  /// Behind the listener, in the middle.
  case backCentre
  /// Beside the listener.
  case sideLeft, sideRight
  /// Another position, or none.
  case other

  /// Returns the usual positions for `channelCount` channels in the channel order of WAV files; nil
  /// if there is no usual arrangement.
  public static func defaultLayout(channelCount: Int) -> [Speaker]? {
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
