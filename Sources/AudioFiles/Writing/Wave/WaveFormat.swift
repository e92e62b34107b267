/// The samples of a WAV file, and the format chunk that describes them. One or two channels get the
/// plain one that every reader knows; more get the extensible one.
struct WaveFormat {
  let sampleFormat: FileSampleFormat
  let sampleRate: Int
  let channelCount: Int

  /// Whether it says at which speaker each channel is played.
  var isExtensible: Bool { channelCount > 2 }

  /// Whether samples are no integers.
  var isFloat: Bool { sampleFormat == .float }

  /// Bytes of one frame.
  var frameByteCount: Int { channelCount * sampleFormat.byteCount }

  /// What the chunk `fmt ` holds.
  var bytes: [UInt8] {
    var bytes: [UInt8] = []
    let tag: UInt16 = isFloat ? 3 : 1
    bytes.append(isExtensible ? 0xFFFE : tag)
    bytes.append(UInt16(channelCount))
    bytes.append(UInt32(sampleRate))
    bytes.append(UInt32(truncatingIfNeeded: sampleRate * frameByteCount))
    bytes.append(UInt16(frameByteCount))
    bytes.append(UInt16(sampleFormat.byteCount * 8))
    guard isExtensible || isFloat else { return bytes }
    bytes.append(UInt16(isExtensible ? 22 : 0))
    guard isExtensible else { return bytes }
    bytes.append(UInt16(sampleFormat.byteCount * 8))
    bytes.append(speakers)
    bytes.append(tag)
    // The rest of the identifier that Microsoft gave to every plain sample format.
    bytes += [0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xAA, 0, 0x38, 0x9B, 0x71]
    return bytes
  }

  /// The speakers of the channels, for the usual arrangements; 0 for no place in particular.
  private var speakers: UInt32 {
    switch channelCount {
    case 3: 0x7
    case 4: 0x33
    case 5: 0x37
    case 6: 0x3F
    case 7: 0x13F
    case 8: 0x63F
    default: 0
    }
  }
}
