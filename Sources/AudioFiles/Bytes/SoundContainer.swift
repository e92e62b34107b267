/// The container of a sound file, according to the bytes with which the file begins.
enum SoundContainer: CaseIterable, Sendable {
  /// WAV.
  case riff
  /// WAV with all numbers in big-endian order.
  case rifx
  /// WAV with 64-bit sizes (EBU Tech 3306).
  case rf64
  /// RF64 under another name (ITU-R BS.2088).
  case bw64
  /// Sony's Wave64.
  case wave64
  /// AIFF and AIFF-C.
  case aiff
  case caf
  /// The format of Sun and NeXT.
  case au
  /// AU with all numbers in little-endian order.
  case littleEndianAU
  case flac
  case ogg

  /// The number of bytes at the beginning of a file that identify all containers.
  static let headByteCount = 28

  /// Identifies a container by its first four bytes alone. Other files may begin with them, too:
  /// an AVI file is RIFF as well.
  init?(beginning: [UInt8]) {
    guard let identifier = beginning.identifier(at: 0) else { return nil }
    self.init(identifier: identifier)
  }

  /// Identifies a container by its first four letters alone.
  init?(identifier: String) {
    guard let found = Self.allCases.first(where: { $0.identifier == identifier }) else {
      return nil
    }
    self = found
  }

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

  /// The first four bytes of a file, which are printable characters.
  var identifier: String {
    switch self {
    case .riff: "RIFF"
    case .rifx: "RIFX"
    case .rf64: "RF64"
    case .bw64: "BW64"
    case .wave64: "riff"
    case .aiff: "FORM"
    case .caf: "caff"
    case .au: ".snd"
    case .littleEndianAU: "dns."
    case .flac: "fLaC"
    case .ogg: "OggS"
    }
  }

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
