import Glibc

/// A description of a file to be written, which chooses the `SampleSink` for its format.
struct SinkRequest {
  let path: String
  let fileFormat: FileFormat
  let sampleFormat: FileSampleFormat
  let sampleRate: Int
  let channelCount: Int
  let tags: SoundFileTags
  /// The loudspeakers that the channels are meant for, for WAV and Vorbis.
  var speakers: [Speaker]?

  /// Starts writing to a duplicate of `descriptor`, which the caller keeps. `isRegular` means that
  /// it refers to an empty file.
  func begin(on descriptor: Int32, isRegular: Bool) throws(FileFailure) -> any SampleSink {
    guard isRegular || fileFormat.isStreamed else { throw needsFile }
    return try begin(
      mapSystemError(try FileDescriptor(duplicating: descriptor)) { .creating(path, $0) })
  }

  private func begin(_ descriptor: consuming FileDescriptor) throws(FileFailure) -> any SampleSink {
    do throws(SoundFileRefusal) {
      switch fileFormat {
      case .wav, .rf64, .raw: return try beginWave(descriptor)
      case .ogg:
        let encoder = try VorbisEncoder(
          sampleRate: sampleRate, channelCount: channelCount, speakers: speakers, tags: tags)
        return try VorbisSink(descriptor, encoder, notes: RecordingNotes(tags))
      case .w64, .aiff, .caf, .flac, .opus, .mp3: return try EncodedFile(descriptor, self)
      }
    } catch {
      switch error {
      case .system(let error):
        throw error.number == EPIPE
          ? .writing(path, error, saved: "nothing") : .creating(path, error)
      case .encoder(let reason):
        throw FileFailure(
          .invalidRequest, "\(path) cannot be written as \(fileFormat.title): \(reason).",
          hint: "Choose another file format, rate or number of channels.")
      }
    }
  }

  private func beginWave(
    _ descriptor: consuming FileDescriptor
  ) throws(SoundFileRefusal) -> WaveFile {
    let format = WaveFormat(
      sampleFormat: sampleFormat, sampleRate: sampleRate, channelCount: channelCount,
      speakers: speakers)
    let header = WaveHeader(format: format, isAlwaysLong: fileFormat == .rf64)
    do throws(SystemError) {
      return try WaveFile(
        descriptor, format, header: fileFormat == .raw ? nil : header, notes: RecordingNotes(tags))
    } catch {
      throw .system(error)
    }
  }

  private var needsFile: FileFailure {
    FileFailure(
      .invalidRequest, "\(fileFormat.title) cannot be written to \(path), which is no file.",
      hint: "Use WAV or raw there, or name a file.")
  }
}

extension FileFormat {
  /// Whether this format can be written to a pipe.
  fileprivate var isStreamed: Bool { self == .wav || self == .raw }
}
