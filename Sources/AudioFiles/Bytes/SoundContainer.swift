/// The container of a sound file, according to the bytes with which the file begins. Its raw value
/// is the first four of them, which are printable characters.
enum SoundContainer: String, Sendable {
  /// WAV.
  case riff = "RIFF"
  /// WAV with all numbers in big-endian order.
  case rifx = "RIFX"
  /// WAV with 64-bit sizes (EBU Tech 3306).
  case rf64 = "RF64"
  /// RF64 under another name (ITU-R BS.2088).
  case bw64 = "BW64"
  /// Sony's Wave64.
  case wave64 = "riff"
  /// AIFF and AIFF-C.
  case aiff = "FORM"
  case caf = "caff"
  /// The format of Sun and NeXT.
  case au = ".snd"
  /// AU with all numbers in little-endian order.
  case littleEndianAU = "dns."
  case flac = "fLaC"
  case ogg = "OggS"

  /// The number of bytes at the beginning of a file that identify all containers.
  static let headByteCount = 28

  /// Identifies a container by its first four bytes alone. Other files may begin with them, too:
  /// an AVI file is RIFF as well.
  init?(beginning: [UInt8]) {
    guard let identifier = beginning.identifier(at: 0) else { return nil }
    self.init(identifier: identifier)
  }

  /// Identifies a container by its first four letters alone.
  init?(identifier: String) { self.init(rawValue: identifier) }

  /// Identifies a sound file by its first `headByteCount` bytes, of which all containers except
  /// Wave64 need only 12. A container of several purposes must name sound as its contents.
  init?(head: [UInt8]) {
    self.init(beginning: head)
    let isSound =
      switch self {
      case .riff, .rifx, .rf64, .bw64: head.identifier(at: 8) == "WAVE"
      case .wave64: head.identifier(at: 24) == "wave"
      case .aiff: ["AIFF", "AIFC"].contains(head.identifier(at: 8))
      case .caf, .au, .littleEndianAU, .flac, .ogg: true
      }
    if !isSound { return nil }
  }

  /// The first four bytes of a file.
  var identifier: String { rawValue }

  /// The name of the container for users.
  var title: String {
    switch self {
    case .riff: "WAV"
    case .rifx, .rf64, .bw64: identifier
    case .wave64: "Wave64"
    case .aiff: "AIFF"
    case .caf: "CAF"
    case .au, .littleEndianAU: "AU"
    case .flac: "FLAC"
    case .ogg: "Ogg"
    }
  }

  /// Whether the file consists of the chunks of a WAV file.
  var isWave: Bool {
    switch self {
    case .riff, .rifx, .rf64, .bw64: true
    case .wave64, .aiff, .caf, .au, .littleEndianAU, .flac, .ogg: false
    }
  }
}
