import AudioBasics
import CSndFile

/// The formats of audio files that can be written.
///
/// ```swift
/// precondition(FileFormat(pathExtensionOf: "take.flac") == .flac)
/// precondition(FileFormat.flac.nearest(to: .float) == .s24)
/// try FileFormat.wav.check(sampleFormat: .float, sampleRate: 96000, channelCount: 2)
/// ```
public enum FileFormat: String, CaseIterable, Sendable, BitwiseCopyable {
  /// Microsoft WAV. Converted to RF64 in place if it exceeds 4 GiB.
  case wav
  /// RF64, the 64-bit WAV format of the EBU, from the first byte on.
  case rf64
  /// Sony Wave64.
  case w64
  /// Apple AIFF (AIFF-C for floating point).
  case aiff
  /// Apple Core Audio Format.
  case caf
  /// FLAC, lossless compression.
  case flac
  /// Ogg Vorbis, lossy compression.
  case ogg
  /// Ogg Opus, lossy compression.
  case opus
  /// MPEG layer III, lossy compression.
  case mp3
  /// Samples without a header, little-endian.
  case raw

  /// The name of the format in user input and output.
  public var name: String { rawValue }

  /// Creates the format with the given name. The case of letters is ignored. Returns nil if there
  /// is none.
  public init?(name: String) {
    self.init(rawValue: name.lowercased())
  }

  /// Creates the format that belongs to the extension of `path`. Returns nil if there is none.
  public init?(pathExtensionOf path: String) {
    guard let format = PathExtension.written[FileName.ending(of: path)] else { return nil }
    self = format
  }

  /// The name of the format in sentences.
  public var title: String { traits.title }

  /// Whether the samples read back differ from the samples written.
  public var isLossy: Bool { traits.sampleFormats == [.float] }

  /// The fixed properties of a format.
  private struct Traits {
    let title: String
    /// The format number of libsndfile, without the sample encoding if the format has several.
    let code: Int
    var sampleFormats: [FileSampleFormat] = [.s16, .s24, .s32, .float]
    var channels = 1024
    /// The supported sample rates, in words.
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

/// The format numbers of libsndfile.
extension FileFormat {
  /// Creates the format with the libsndfile number `code`. Returns nil for formats that can only be
  /// read.
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

  /// Returns the libsndfile number for writing `sampleFormat` in this format.
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

  /// Creates the sample format with the libsndfile number `code`. Returns nil for encodings that
  /// are not written.
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
  /// The libsndfile number for reading raw samples of this format; nil for 24 bits in 32, which no
  /// file contains.
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

/// The capabilities of each file format: sample formats, channels, rates and markers.
extension FileFormat {
  /// The supported sample formats, the narrowest first. A lossy format has no fixed sample format
  /// and accepts floating point.
  public var sampleFormats: [FileSampleFormat] { traits.sampleFormats }

  /// Whether the library writes markers to files of this format.
  public var holdsMarkers: Bool { self == .wav || self == .rf64 }

  /// Whether the samples are uncompressed, so that every frame has the same number of bytes.
  public var isPlain: Bool { sampleFormats.contains(.s32) }

  /// The largest size of a file in bytes; nil if no file system allows more. The lengths in AIFF
  /// have 32 bits.
  var maximumByteCount: Int? { self == .aiff ? Int(UInt32.max) : nil }

  /// Returns `wanted` if the format supports it, otherwise the widest supported sample format. Used
  /// if the user did not choose a sample format.
  public func nearest(to wanted: FileSampleFormat) -> FileSampleFormat {
    sampleFormats.contains(wanted) ? wanted : sampleFormats.last ?? .s16
  }

  /// The maximum number of channels.
  public var maximumChannelCount: Int { traits.channels }

  /// Checks whether the format supports these parameters, before a file is created. `sampleRate` is
  /// in Hz, `speakers` are those of the channels if they were named. Throws `.invalidRequest` with
  /// a hint that states the supported values.
  public func check(
    sampleFormat: FileSampleFormat, sampleRate: Int, channelCount: Int, speakers: [Speaker]? = nil
  ) throws(FileFailure) {
    guard sampleFormats.contains(sampleFormat) else {
      throw refusal(
        "hold \(sampleFormat.name) samples", hint: "Leave the sample format out, or use \(choices)."
      )
    }
    guard channelCount >= 1, channelCount <= maximumChannelCount else {
      throw refusal(
        "have \(channelCount.counted("channel"))",
        hint: "Use 1 to \(maximumChannelCount) channels, or another file format.")
    }
    // The encoder takes the fourth channel for that of a subwoofer.
    guard self != .opus || channelCount < 6 || Speaker.isSurround(speakers) else {
      throw refusal(
        "have \(channelCount) channels of microphones, because it keeps only the low frequencies of channel \(Speaker.lowFrequencyIndex + 1)",
        hint: "Use 1 to 5 channels, or WAV, FLAC or Ogg Vorbis.")
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

/// The sample format of an audio file: the encoding of one sample.
public enum FileSampleFormat: String, CaseIterable, Sendable, BitwiseCopyable {
  /// Signed integers of 16, 24 and 32 bits.
  case s16, s24, s32
  /// 32-bit floating point, full scale at 1.
  case float

  /// The name of the sample format in user input and output: `s16`, `s24`, `s32` or `float`.
  public var name: String { rawValue }

  /// Creates the sample format with the given name. The case of letters is ignored. Returns nil if
  /// there is none.
  public init?(name: String) {
    self.init(rawValue: name.lowercased())
  }

  /// The size of a sample in bytes in an uncompressed file.
  public var byteCount: Int {
    switch self {
    case .s16: 2
    case .s24: 3
    case .s32, .float: 4
    }
  }

  /// The number of significant bits per sample.
  public var significantBits: Int {
    switch self {
    case .s16: 16
    case .s24, .float: 24
    case .s32: 32
    }
  }
}

/// The file name extensions of audio files and playlists.
enum PathExtension {
  /// The extensions of formats that can be written as well as read.
  static let written: [String: FileFormat] = [
    "wav": .wav, "wave": .wav, "bwf": .wav, "rf64": .rf64, "w64": .w64, "aiff": .aiff, "aif": .aiff,
    "aifc": .aiff, "caf": .caf, "flac": .flac, "ogg": .ogg, "oga": .ogg, "opus": .opus, "mp3": .mp3,
    "raw": .raw, "pcm": .raw,
  ]

  /// The extensions of formats that can only be read: other MPEG layers, and other formats that
  /// libsndfile supports.
  private static let read: Set<String> = [
    "mp2", "mp1", "mpga", "au", "snd", "voc", "ircam", "sf", "paf", "fap", "svx", "8svx", "iff",
    "nist", "sph", "avr", "pvf", "htk", "sds", "xi", "wve", "wavex", "mat",
  ]

  static let playlists: Set<String> = ["m3u", "m3u8", "pls"]

  /// Returns whether files with the extension `ending`, in lower case, are audio files that
  /// describe their own format. Raw samples do not.
  static func isSound(_ ending: String) -> Bool {
    read.contains(ending) || written[ending].map { $0 != .raw } ?? false
  }
}
