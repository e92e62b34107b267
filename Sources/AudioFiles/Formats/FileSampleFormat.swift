/// How a sound file holds one sample.
public enum FileSampleFormat: String, CaseIterable, Sendable, BitwiseCopyable {
  /// Signed integers of 16, 24 and 32 bits.
  case s16, s24, s32
  /// 32-bit floating point, full scale at 1.
  case float

  /// The name users give and read: `s16`, `s24`, `s32` or `float`.
  public var name: String { rawValue }

  /// The format of that name, in either case.
  public init?(name: String) {
    self.init(rawValue: name.lowercased())
  }

  /// Bytes of a sample in a file without compression.
  public var byteCount: Int {
    switch self {
    case .s16: 2
    case .s24: 3
    case .s32, .float: 4
    }
  }

  /// Bits of a sample that carry sound.
  public var significantBits: Int {
    switch self {
    case .s16: 16
    case .s24, .float: 24
    case .s32: 32
    }
  }
}
