/// The kinds of sound file that can be written.
public enum FileFormat: String, CaseIterable, Sendable, BitwiseCopyable {
  /// Microsoft's WAV. Past 4 GiB it turns into RF64 in place.
  case wav
  /// EBU's 64-bit WAV, from the first byte on.
  case rf64
  /// Sony's Wave64.
  case w64
  /// Apple's AIFF (AIFF-C for floating point).
  case aiff
  /// Apple's Core Audio Format.
  case caf
  /// Lossless compression.
  case flac
  /// Vorbis in Ogg, lossy.
  case ogg
  /// Opus in Ogg, lossy.
  case opus
  /// MPEG layer III, lossy.
  case mp3
  /// Samples and nothing else, least significant byte first.
  case raw

  /// The name users give and read.
  public var name: String { rawValue }

  /// The format of that name, in either case.
  public init?(name: String) {
    self.init(rawValue: name.lowercased())
  }

  /// The format that the extension of `path` stands for.
  public init?(pathExtensionOf path: String) {
    guard let format = PathExtension.written[FileName.ending(of: path)] else { return nil }
    self = format
  }

  /// What to call it in a sentence.
  public var title: String {
    switch self {
    case .wav: "WAV"
    case .rf64: "RF64"
    case .w64: "Wave64"
    case .aiff: "AIFF"
    case .caf: "CAF"
    case .flac: "FLAC"
    case .ogg: "Ogg Vorbis"
    case .opus: "Opus"
    case .mp3: "MP3"
    case .raw: "raw"
    }
  }

  /// Whether what is read back differs from what was written.
  public var isLossy: Bool {
    switch self {
    case .ogg, .opus, .mp3: true
    case .wav, .rf64, .w64, .aiff, .caf, .flac, .raw: false
    }
  }
}
