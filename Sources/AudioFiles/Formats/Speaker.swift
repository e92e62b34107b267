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

  /// The index of the subwoofer's channel in surround sound of 6 to 8 channels.
  static let lowFrequencyIndex = 3

  /// Returns whether `speakers` are those of surround sound with a subwoofer.
  static func isSurround(_ speakers: [Speaker]?) -> Bool {
    guard let speakers, speakers.count >= 6 else { return false }
    return speakers[lowFrequencyIndex] == .lowFrequency
  }

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

/// The loudspeakers of the channels as a number, in which bit n stands for the speaker with the raw
/// value n.
enum ChannelMask {
  /// The name of the comment with the mask in FLAC and Vorbis files (RFC 9639, 8.6.2).
  static let comment = "WAVEFORMATEXTENSIBLE_CHANNEL_MASK"
  /// The mask of channels that are not meant for loudspeakers.
  static let noSpeakers = "0x0"

  /// Returns the speakers of `channelCount` channels. Channels beyond the bits of `mask` have no
  /// speaker in particular.
  static func speakers(_ mask: Int, channelCount: Int) -> [Speaker] {
    let named = (0..<18).filter { mask >> $0 & 1 != 0 }.map { Speaker(rawValue: $0) ?? .other }
    let rest = [Speaker](repeating: .other, count: max(0, channelCount - named.count))
    return Array(named.prefix(channelCount)) + rest
  }

  /// Returns the speakers according to a comment of that name; nil if it does not exclude speakers.
  static func speakers(comment: String?, channelCount: Int) -> [Speaker]? {
    guard comment == noSpeakers, channelCount > 2 else { return nil }
    return speakers(0, channelCount: channelCount)
  }
}
