/// The samples of a WAV file, and the format chunk that describes them. One or two channels use the
/// plain chunk, which every reader supports; more channels use the extensible one.
struct WaveFormat {
  let sampleFormat: FileSampleFormat
  let sampleRate: Int
  let channelCount: Int
  /// The loudspeakers that the channels are meant for; nil if they are not specified.
  var speakers: [Speaker]?

  /// Whether the format chunk is the extensible one, which assigns a speaker to each channel.
  var isExtensible: Bool { channelCount > 2 }

  /// Whether the samples are floating-point numbers.
  var isFloat: Bool { sampleFormat == .float }

  /// The number of bytes in one frame.
  var frameByteCount: Int { channelCount * sampleFormat.byteCount }

  /// The contents of the chunk `fmt `.
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
    bytes.append(channelMask)
    bytes.append(tag)
    // The rest of the identifier that Microsoft assigned to every plain sample format.
    bytes += [0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xAA, 0, 0x38, 0x9B, 0x71]
    return bytes
  }

  /// A bit for each loudspeaker, that of the first channel lowest; 0 if the speakers are not
  /// specified, as for microphones, or are in another order.
  private var channelMask: UInt32 {
    guard let speakers, speakers.count == channelCount else { return 0 }
    let numbers = speakers.map(\.rawValue)
    let isInOrder = zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 }
    guard isInOrder, !speakers.contains(.other) else { return 0 }
    return numbers.reduce(0) { $0 | 1 << UInt32($1) }
  }
}
