import Glibc

/// Where a writer's samples go: decides which of the two ways of writing serves a format.
struct SampleSink: ~Copyable {
  var pcm: PCMFile?
  var encoded: EncodedFile?

  /// Creates a file; one that was created and cannot be written is removed again.
  init(
    creating path: String, _ fileFormat: FileFormat, _ sampleFormat: FileSampleFormat,
    sampleRate: Int, channelCount: Int, overwrite: Bool
  ) throws(FileFailure) {
    let file: OutputFile
    do throws(SystemError) {
      file = try OutputFile(creating: path, overwrite: overwrite)
    } catch {
      throw .creating(path, error)
    }
    let isNew = file.isNew
    guard file.isRegular || fileFormat.isStreamed else { throw Self.needsFile(path, fileFormat) }
    do throws(FileFailure) {
      try self.init(
        file.takeDescriptor(), path, fileFormat, sampleFormat, sampleRate: sampleRate,
        channelCount: channelCount)
    } catch {
      if isNew { unlink(path) }
      throw error
    }
  }

  /// Writes to a descriptor that stays its owner's.
  init(
    _ descriptor: Int32, _ fileFormat: FileFormat, _ sampleFormat: FileSampleFormat,
    sampleRate: Int, channelCount: Int
  ) throws(FileFailure) {
    let path = "standard output"
    guard fileFormat.isStreamed else { throw Self.needsFile(path, fileFormat) }
    let copy: FileDescriptor
    do throws(SystemError) {
      copy = try FileDescriptor(duplicating: descriptor)
    } catch {
      throw .creating(path, error)
    }
    try self.init(
      copy, path, fileFormat, sampleFormat, sampleRate: sampleRate, channelCount: channelCount)
  }

  private init(
    _ descriptor: consuming FileDescriptor, _ path: String, _ fileFormat: FileFormat,
    _ sampleFormat: FileSampleFormat, sampleRate: Int, channelCount: Int
  ) throws(FileFailure) {
    guard let code = fileFormat.code(sampleFormat) else {
      let header = WaveHeader(
        sampleFormat: sampleFormat, sampleRate: sampleRate, channelCount: channelCount,
        isAlwaysLong: fileFormat == .rf64)
      do throws(SystemError) {
        pcm = try PCMFile(
          descriptor, header: fileFormat == .raw ? nil : header,
          frameByteCount: header.frameByteCount)
      } catch {
        throw error.number == EPIPE
          ? .writing(path, error, saved: "nothing") : .creating(path, error)
      }
      return
    }
    do throws(SoundFileRefusal) {
      encoded = try EncodedFile(
        descriptor, fileFormat: fileFormat, sampleFormat: sampleFormat, code: code,
        sampleRate: sampleRate, channelCount: channelCount)
    } catch {
      if let system = error.system { throw .creating(path, system) }
      throw FileFailure(
        .invalidRequest, "\(path) cannot be written as \(fileFormat.title): \(error.reason).",
        hint: "Choose another file format, rate or number of channels.")
    }
  }

  private static func needsFile(_ path: String, _ fileFormat: FileFormat) -> FileFailure {
    FileFailure(
      .invalidRequest, "\(fileFormat.title) cannot be written to \(path), which is no file.",
      hint: "Use WAV or raw there, or name a file.")
  }
}

extension FileFormat {
  /// Whether it can go down a pipe.
  fileprivate var isStreamed: Bool { self == .wav || self == .raw }
}
