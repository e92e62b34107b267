import AudioBasics
import CSndFile

/// libsndfile's numbers for formats.
extension FileFormat {
  /// The format with that number; nil for one that is only read.
  init?(code: Int32) {
    let encoding = Int(code) & SF_FORMAT_SUBMASK
    switch Int(code) & SF_FORMAT_TYPEMASK {
    case SF_FORMAT_WAV, SF_FORMAT_WAVEX: self = .wav
    case SF_FORMAT_RF64: self = .rf64
    case SF_FORMAT_W64: self = .w64
    case SF_FORMAT_AIFF: self = .aiff
    case SF_FORMAT_CAF: self = .caf
    case SF_FORMAT_FLAC: self = .flac
    case SF_FORMAT_OGG where encoding == SF_FORMAT_VORBIS: self = .ogg
    case SF_FORMAT_OGG where encoding == SF_FORMAT_OPUS: self = .opus
    case SF_FORMAT_MPEG: self = .mp3
    case SF_FORMAT_RAW: self = .raw
    default: return nil
    }
  }

  /// The number to write `sampleFormat` with.
  func code(_ sampleFormat: FileSampleFormat) -> Int32 {
    switch self {
    case .wav: Int32(SF_FORMAT_WAV | sampleFormat.code)
    case .rf64: Int32(SF_FORMAT_RF64 | sampleFormat.code)
    case .raw: Int32(SF_FORMAT_RAW | SF_ENDIAN_LITTLE | sampleFormat.code)
    case .w64: Int32(SF_FORMAT_W64 | sampleFormat.code)
    case .aiff: Int32(SF_FORMAT_AIFF | sampleFormat.code)
    case .caf: Int32(SF_FORMAT_CAF | sampleFormat.code)
    case .flac: Int32(SF_FORMAT_FLAC | sampleFormat.code)
    case .ogg: Int32(SF_FORMAT_OGG | SF_FORMAT_VORBIS)
    case .opus: Int32(SF_FORMAT_OGG | SF_FORMAT_OPUS)
    case .mp3: Int32(SF_FORMAT_MPEG | SF_FORMAT_MPEG_LAYER_III)
    }
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
