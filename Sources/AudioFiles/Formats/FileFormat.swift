import AudioBasics
import CSndFile

/// The kinds of sound file that can be written.
///
/// ```swift
/// precondition(FileFormat(pathExtensionOf: "take.flac") == .flac)
/// precondition(FileFormat.flac.nearest(to: .float) == .s24)
/// try FileFormat.wav.check(sampleFormat: .float, sampleRate: 96000, channelCount: 2)
/// ```
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
  public var title: String { traits.title }

  /// Whether what is read back differs from what was written.
  public var isLossy: Bool { traits.sampleFormats == [.float] }

  /// Fixed properties of a format.
  private struct Traits {
    let title: String
    /// libsndfile's number, without the samples' where those may be of several kinds.
    let code: Int
    var sampleFormats: [FileSampleFormat] = [.s16, .s24, .s32, .float]
    var channels = 1024
    /// Which rates it can have, in words.
    var rates = "a rate above 0 Hz"
    var hasRate: (Int) -> Bool = { $0 <= Int(Int32.max) }
  }

  private var traits: Traits {
    switch self {
    case .wav: Traits(title: "WAV", code: SF_FORMAT_WAV)
    case .rf64: Traits(title: "RF64", code: SF_FORMAT_RF64)
    case .w64: Traits(title: "Wave64", code: SF_FORMAT_W64)
    case .aiff: Traits(title: "AIFF", code: SF_FORMAT_AIFF)
    case .caf: Traits(title: "CAF", code: SF_FORMAT_CAF)
    case .flac:
      Traits(
        title: "FLAC", code: SF_FORMAT_FLAC, sampleFormats: [.s16, .s24], channels: 8,
        rates: "a rate up to 655350 Hz (above 65535 Hz a multiple of 10)",
        hasRate: { $0 < 65536 || ($0 % 10 == 0 && $0 <= 655_350) })
    case .ogg:
      Traits(
        title: "Ogg Vorbis", code: SF_FORMAT_OGG | SF_FORMAT_VORBIS, sampleFormats: [.float],
        channels: 8, rates: "a rate of 8000 to 192000 Hz", hasRate: (8000...192_000).contains)
    case .opus:
      Traits(
        title: "Opus", code: SF_FORMAT_OGG | SF_FORMAT_OPUS, sampleFormats: [.float], channels: 8,
        rates: "48000, 24000, 16000, 12000 or 8000 Hz",
        hasRate: [8000, 12000, 16000, 24000, 48000].contains)
    case .mp3:
      Traits(
        title: "MP3", code: SF_FORMAT_MPEG | SF_FORMAT_MPEG_LAYER_III, sampleFormats: [.float],
        channels: 2, rates: "48000, 44100 or 32000 Hz, or their half or quarter",
        hasRate: [8000, 11025, 12000, 16000, 22050, 24000, 32000, 44100, 48000].contains)
    case .raw: Traits(title: "raw", code: SF_FORMAT_RAW | SF_ENDIAN_LITTLE)
    }
  }
}

/// libsndfile's numbers for formats.
extension FileFormat {
  /// The format with that number; nil for one that is only read.
  init?(code: Int32) {
    let (type, encoding) = (Int(code) & SF_FORMAT_TYPEMASK, Int(code) & SF_FORMAT_SUBMASK)
    let found = Self.allCases.first {
      let own = $0.traits.code
      return own & SF_FORMAT_TYPEMASK == (type == SF_FORMAT_WAVEX ? SF_FORMAT_WAV : type)
        && [0, encoding].contains(own & SF_FORMAT_SUBMASK)
    }
    guard let found else { return nil }
    self = found
  }

  /// The number to write `sampleFormat` with.
  func code(_ sampleFormat: FileSampleFormat) -> Int32 {
    Int32(traits.code | (isLossy ? 0 : sampleFormat.code))
  }
}

extension FileSampleFormat {
  var code: Int {
    switch self {
    case .s16: SF_FORMAT_PCM_16
    case .s24: SF_FORMAT_PCM_24
    case .s32: SF_FORMAT_PCM_32
    case .float: SF_FORMAT_FLOAT
    }
  }

  /// The samples with that number; nil for any that are not written.
  init?(code: Int32) {
    let encoding = Int(code) & SF_FORMAT_SUBMASK
    switch encoding {
    case SF_FORMAT_PCM_16, SF_FORMAT_ALAC_16: self = .s16
    case SF_FORMAT_PCM_24, SF_FORMAT_ALAC_24: self = .s24
    case SF_FORMAT_PCM_32, SF_FORMAT_ALAC_32: self = .s32
    case SF_FORMAT_FLOAT: self = .float
    default: return nil
    }
  }
}

extension SampleFormat {
  /// The number to read bare samples with; nil for 24 bits in 32, which no file holds.
  var code: Int32? {
    switch self {
    case .s16LE: Int32(SF_FORMAT_PCM_16 | SF_ENDIAN_LITTLE)
    case .s16BE: Int32(SF_FORMAT_PCM_16 | SF_ENDIAN_BIG)
    case .s24Packed3LE: Int32(SF_FORMAT_PCM_24 | SF_ENDIAN_LITTLE)
    case .s24Packed3BE: Int32(SF_FORMAT_PCM_24 | SF_ENDIAN_BIG)
    case .s32LE: Int32(SF_FORMAT_PCM_32 | SF_ENDIAN_LITTLE)
    case .s32BE: Int32(SF_FORMAT_PCM_32 | SF_ENDIAN_BIG)
    case .floatLE: Int32(SF_FORMAT_FLOAT | SF_ENDIAN_LITTLE)
    case .floatBE: Int32(SF_FORMAT_FLOAT | SF_ENDIAN_BIG)
    case .s24LE, .s24BE: nil
    }
  }
}

/// Capabilities of each file format: sample formats, channels, rates and markers.
extension FileFormat {
  /// The sample formats it can hold, the narrowest first. A lossy format has no samples of its own
  /// and is given floating point.
  public var sampleFormats: [FileSampleFormat] { traits.sampleFormats }

  /// Whether its files hold markers, as far as this program writes them.
  public var holdsMarkers: Bool { self == .wav || self == .rf64 }

  /// Whether it holds samples as they are, so that each frame takes the same number of bytes.
  public var isPlain: Bool { sampleFormats.contains(.s32) }

  /// `wanted` where it can be held, else the widest that can: the format to use when the user asked
  /// for none.
  public func nearest(to wanted: FileSampleFormat) -> FileSampleFormat {
    sampleFormats.contains(wanted) ? wanted : sampleFormats.last ?? .s16
  }

  /// The most channels it can hold.
  public var maximumChannelCount: Int { traits.channels }

  /// Refuses what the format cannot hold at `sampleRate` Hz, before anything is created: throws
  /// `.invalidRequest` with a sentence that says what it can.
  public func check(
    sampleFormat: FileSampleFormat, sampleRate: Int, channelCount: Int
  ) throws(FileFailure) {
    guard sampleFormats.contains(sampleFormat) else {
      throw refusal(
        "hold \(sampleFormat.name) samples", hint: "Leave the sample format out, or use \(choices)."
      )
    }
    guard channelCount >= 1, channelCount <= maximumChannelCount else {
      throw refusal(
        "have \(channelCount) channels",
        hint: "Use 1 to \(maximumChannelCount) channels, or another file format.")
    }
    guard sampleRate >= 1, traits.hasRate(sampleRate) else {
      throw refusal(
        "have a rate of \(sampleRate) Hz", hint: "Use \(traits.rates), or another file format.")
    }
  }

  private func refusal(_ what: String, hint: String) -> FileFailure {
    let article = "AMOR".contains(title.first ?? "W") ? "An" : "A"
    return FileFailure(.invalidRequest, "\(article) \(title) file cannot \(what).", hint: hint)
  }

  private var choices: String {
    sampleFormats.map(\.name).joined(separator: " or ")
  }
}

/// Sample format of a sound file: the encoding of one sample.
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

/// The endings of file names that sound files have: one list for all that asks.
enum PathExtension {
  /// Endings of the formats that can be written as well.
  static let written: [String: FileFormat] = [
    "wav": .wav, "wave": .wav, "bwf": .wav, "rf64": .rf64, "w64": .w64, "aiff": .aiff, "aif": .aiff,
    "aifc": .aiff, "caf": .caf, "flac": .flac, "ogg": .ogg, "oga": .ogg, "opus": .opus, "mp3": .mp3,
    "raw": .raw, "pcm": .raw,
  ]

  /// Those that are only read: further MPEG layers, and what else libsndfile knows.
  private static let read: Set<String> = [
    "mp2", "mp1", "mpga", "au", "snd", "voc", "ircam", "sf", "paf", "fap", "svx", "8svx", "iff",
    "nist", "sph", "avr", "pvf", "htk", "sds", "xi", "wve", "wavex", "mat",
  ]

  static let playlists: Set<String> = ["m3u", "m3u8", "pls"]

  /// Whether files of this ending, in lower case, are sound that says by itself what it is.
  static func isSound(_ ending: String) -> Bool {
    read.contains(ending) || written[ending].map { $0 != .raw } ?? false
  }
}
