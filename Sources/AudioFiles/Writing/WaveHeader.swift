/// The head of a WAV or RF64 file: everything before the samples, always the same length.
///
/// Room for RF64's sizes is kept from the start (EBU Tech 3306), so that a recording that outgrows
/// 4 GiB needs nothing moved. One or two channels get the plain format chunk that every reader
/// knows; more get the extensible one.
struct WaveHeader {
  let sampleFormat: FileSampleFormat
  let sampleRate: Int
  let channelCount: Int
  /// Whether it is RF64 while it is still short.
  let isAlwaysLong: Bool

  private var isExtensible: Bool { channelCount > 2 }
  private var isFloat: Bool { sampleFormat == .float }
  private var formatByteCount: Int { isExtensible ? 40 : isFloat ? 18 : 16 }
  private var hasFact: Bool { isFloat }

  /// Bytes of one frame.
  var frameByteCount: Int { channelCount * sampleFormat.byteCount }

  /// Bytes before the first sample.
  var byteCount: Int { 12 + 36 + 8 + formatByteCount + (hasFact ? 12 : 0) + 8 }

  /// The header of a file with so many bytes of samples; nil where they are not known yet and
  /// never will be, as on a pipe.
  func bytes(dataByteCount: Int?) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(byteCount)
    // A chunk of odd length is followed by a byte that does not count.
    let data = dataByteCount ?? 0
    let riff = byteCount - 8 + data + (data & 1)
    let isLong = dataByteCount != nil && (isAlwaysLong || riff > Int(UInt32.max))
    let isOpen = isLong || dataByteCount == nil
    let frames = data / frameByteCount

    bytes.append(isLong ? "RF64" : "RIFF")
    bytes.append(isOpen ? .max : UInt32(riff))
    bytes.append("WAVE")
    bytes.append(isLong ? "ds64" : "JUNK")
    bytes.append(UInt32(28))
    bytes.append(isLong ? UInt64(riff) : 0)
    bytes.append(isLong ? UInt64(data) : 0)
    bytes.append(isLong ? UInt64(frames) : 0)
    bytes.append(UInt32(0))
    appendFormat(to: &bytes)
    if hasFact {
      bytes.append("fact")
      bytes.append(UInt32(4))
      bytes.append(isOpen ? .max : UInt32(frames))
    }
    bytes.append("data")
    bytes.append(isOpen ? .max : UInt32(data))
    return bytes
  }

  private func appendFormat(to bytes: inout [UInt8]) {
    let tag: UInt16 = isFloat ? 3 : 1
    bytes.append("fmt ")
    bytes.append(UInt32(formatByteCount))
    bytes.append(isExtensible ? 0xFFFE : tag)
    bytes.append(UInt16(channelCount))
    bytes.append(UInt32(sampleRate))
    bytes.append(UInt32(truncatingIfNeeded: sampleRate * frameByteCount))
    bytes.append(UInt16(frameByteCount))
    bytes.append(UInt16(sampleFormat.byteCount * 8))
    guard formatByteCount > 16 else { return }
    bytes.append(UInt16(formatByteCount - 18))
    guard isExtensible else { return }
    bytes.append(UInt16(sampleFormat.byteCount * 8))
    bytes.append(speakers)
    bytes.append(tag)
    // The rest of the identifier that Microsoft gave to every plain sample format.
    bytes += [0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xAA, 0, 0x38, 0x9B, 0x71]
  }

  /// Where the channels are heard, for the usual arrangements; 0 for nowhere in particular.
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

extension [UInt8] {
  fileprivate mutating func append(_ identifier: StaticString) {
    identifier.withUTF8Buffer { append(contentsOf: $0) }
  }

  fileprivate mutating func append<Number: FixedWidthInteger>(_ number: Number) {
    Swift.withUnsafeBytes(of: number.littleEndian) { append(contentsOf: $0) }
  }
}
