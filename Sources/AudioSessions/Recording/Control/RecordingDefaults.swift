import AudioBasics
import AudioFiles

/// The default length of a recording's capture ring, and the limit of its size.
extension RecordingPlan {
  /// Seconds that a capture ring holds while the disk stands still.
  public static var usualRingSeconds: Double { 12 }
  /// Bytes that such a ring takes at most: 64 channels at 768 kHz would otherwise take gigabytes.
  private static var mostRingBytes: Int { 268_435_456 }

  /// Frames of a capture ring of `seconds`, bounded to 256 MiB.
  public static func ringFrames(seconds: Double, sampleRate: Int, channelCount: Int) -> Int {
    let asked = max(1, Int(clamping: seconds * Double(sampleRate)))
    return min(asked, max(1, mostRingBytes / (4 * max(1, channelCount))))
  }
}

extension FileFormat {
  /// How it keeps samples that a device delivers as `format`, nothing lost: 32-bit integers with 24
  /// bits, which is what converters have.
  public func sampleFormat(delivered format: SampleFormat?) -> FileSampleFormat {
    let delivered = format?.fileSampleFormat ?? .float
    return nearest(to: delivered == .s32 ? .s24 : delivered)
  }
}

extension SampleFormat {
  /// The same in a file.
  public var fileSampleFormat: FileSampleFormat {
    switch self {
    case .s16LE, .s16BE: .s16
    case .s24LE, .s24BE, .s24Packed3LE, .s24Packed3BE: .s24
    case .s32LE, .s32BE: .s32
    case .floatLE, .floatBE: .float
    }
  }
}
