import AudioBasics
import AudioFiles

/// The default length of a recording's capture ring, and the limit of its size.
extension RecordingPlan {
  /// The number of seconds that a capture ring can hold while the disk stalls.
  public static var defaultRingSeconds: Double { 12 }
  /// The most bytes of a default ring: 64 channels at 768 kHz would otherwise need gigabytes.
  private static var maximumRingBytes: Int { 268_435_456 }
  /// The least number of frames between two steps of the background work in virtual time.
  static var virtualStepFrames: Int { 1024 }

  /// Returns the number of frames of a capture ring of `seconds`, limited to 256 MiB. It has room
  /// for two periods of `periodFrames`, however short `seconds` is.
  public static func ringFrames(
    seconds: Double, sampleRate: Int, channelCount: Int, periodFrames: Int = 0
  ) -> Int {
    limitedRingFrames(
      unlimitedRingFrames(seconds: seconds, sampleRate: sampleRate, periodFrames: periodFrames),
      channelCount: channelCount)
  }

  /// Returns the same number without the limit of 256 MiB: a capture ring that loses nothing while
  /// the disk is fast, since one period, or one step in virtual time, arrives while another is
  /// saved.
  package static func unlimitedRingFrames(
    seconds: Double, sampleRate: Int, periodFrames: Int
  ) -> Int {
    max(
      Int(clamping: seconds * Double(sampleRate)),
      2 * max(virtualStepFrames, min(periodFrames, maximumRingBytes)))
  }

  /// Returns `frames`, or as many frames of `channelCount` channels as fit in 256 MiB.
  package static func limitedRingFrames(_ frames: Int, channelCount: Int) -> Int {
    min(frames, max(1, maximumRingBytes / 4 / max(1, channelCount)))
  }
}

extension FileFormat {
  /// Returns the sample format that stores samples delivered as `format` without loss: 24 bits for
  /// 32-bit integers, since converters have no more.
  public func sampleFormat(delivered format: SampleFormat?) -> FileSampleFormat {
    let delivered = format?.fileSampleFormat ?? .float
    return nearest(to: delivered == .s32 ? .s24 : delivered)
  }
}

extension SampleFormat {
  /// The corresponding sample format of a file.
  public var fileSampleFormat: FileSampleFormat {
    switch self {
    case .s16LE, .s16BE: .s16
    case .s24LE, .s24BE, .s24Packed3LE, .s24Packed3BE: .s24
    case .s32LE, .s32BE: .s32
    case .floatLE, .floatBE: .float
    }
  }
}
