// Audio thread.

/// The sample format of a device: the layout of one sample in memory. The names are those of ALSA.
///
/// ```swift
/// precondition(SampleFormat(name: "S24_3LE") == .s24Packed3LE)
/// precondition(SampleFormat.s24Packed3LE.byteCount == 3)
/// ```
public enum SampleFormat: Int, CaseIterable, Sendable, BitwiseCopyable {
  /// 16 bits, little-endian and big-endian.
  case s16LE, s16BE
  /// 24 bits in the low three bytes of a 32-bit word, little-endian and big-endian.
  case s24LE, s24BE
  /// 24 bits packed in three bytes, little-endian and big-endian.
  case s24Packed3LE, s24Packed3BE
  /// 32 bits, little-endian and big-endian.
  case s32LE, s32BE
  /// 32-bit floating point, little-endian and big-endian.
  case floatLE, floatBE

  /// The name that ALSA, `arecord` and `aplay` use.
  public var name: String {
    switch self {
    case .s16LE: "S16_LE"
    case .s16BE: "S16_BE"
    case .s24LE: "S24_LE"
    case .s24BE: "S24_BE"
    case .s24Packed3LE: "S24_3LE"
    case .s24Packed3BE: "S24_3BE"
    case .s32LE: "S32_LE"
    case .s32BE: "S32_BE"
    case .floatLE: "FLOAT_LE"
    case .floatBE: "FLOAT_BE"
    }
  }

  /// Creates the format with the ALSA name `name`, in upper or lower case. A name without a byte
  /// order, such as `s16`, means little-endian. Also accepts the names that ffmpeg, sox,
  /// PulseAudio, PipeWire and GStreamer use, in which `s24le` is packed in three bytes. Nil for any
  /// other name.
  public init?(name: String) {
    guard name.utf8.count <= 9 else { return nil }
    let upper = name.uppercased()
    switch upper {
    case "S16LE": self = .s16LE
    case "S16BE": self = .s16BE
    case "S24LE": self = .s24Packed3LE
    case "S24BE": self = .s24Packed3BE
    case "S24_32LE", "S24-32LE": self = .s24LE
    case "S24_32BE", "S24-32BE": self = .s24BE
    case "S32LE": self = .s32LE
    case "S32BE": self = .s32BE
    case "F32", "F32LE", "F32_LE", "FLOAT32", "FLOAT32LE": self = .floatLE
    case "F32BE", "F32_BE", "FLOAT32BE": self = .floatBE
    default:
      guard
        let format = Self.allCases.first(where: { $0.name == upper || $0.name == upper + "_LE" })
      else { return nil }
      self = format
    }
  }

  /// The number of bytes of one sample in memory. Any thread.
  public var byteCount: Int {
    @_noLocks get {
      switch self {
      case .s16LE, .s16BE: 2
      case .s24Packed3LE, .s24Packed3BE: 3
      case .s24LE, .s24BE, .s32LE, .s32BE, .floatLE, .floatBE: 4
      }
    }
  }

  /// The number of bits of a sample that carry audio. A float carries the 24 bits of its
  /// significand.
  public var significantBits: Int {
    switch self {
    case .s16LE, .s16BE: 16
    case .s24LE, .s24BE, .s24Packed3LE, .s24Packed3BE, .floatLE, .floatBE: 24
    case .s32LE, .s32BE: 32
    }
  }

  /// All formats, the widest first: the order in which they are tried on a device if the user names
  /// none.
  public static let widestFirst: [SampleFormat] = [
    .s32LE, .floatLE, .s24LE, .s24Packed3LE, .s16LE,
    .s32BE, .floatBE, .s24BE, .s24Packed3BE, .s16BE,
  ]
}
