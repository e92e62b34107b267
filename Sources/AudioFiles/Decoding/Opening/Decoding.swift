import AudioBasics

/// Selection of a decoder by the contents of the audio, not by its name. Any thread but the audio
/// thread.
///
/// ```swift
/// let engine = DuplexEngine(device: "sim:clock=free")
/// try await engine.record(to: "take.flac")
/// try await engine.run(seconds: 1)
/// let decoder = try Decoding.decoder(forPath: "take.flac")
/// precondition(decoder.frameCount == 48000)
/// try decoder.seek(toFrame: 24000)
/// precondition(decoder.position == 24000)
/// ```
public enum Decoding {
  /// Returns a decoder of the file `path`, or of standard input if `path` is `-`. All its seeks are
  /// exact.
  ///
  /// If `whileWaiting` is given, a pipe or a device is read as its data arrives: the function
  /// passed to `whileWaiting` ends a wait for the program at the other end, from any thread.
  /// Otherwise both are refused, unless they are standard input. Throws the same errors as
  /// `SoundFileReader`.
  public static func decoder(
    forPath path: String,
    whileWaiting: ((_ end: @escaping @Sendable () -> Void) -> Void)? = nil
  ) throws(FileFailure) -> any SoundDecoder {
    if whileWaiting != nil || path == StandardInput.path,
      let pipe = try PipeSource(path: path)
    {
      whileWaiting? { pipe.interrupt() }
      return try decoder(ofPipe: pipe)
    }
    return try decoder(of: BufferedBytes(try LocalFile(path: path)), .exact) {
      _ throws(FileFailure) in
      try FileDecoder(path: path)
    }
  }

  /// Returns a decoder of raw samples in the format given by the caller, in a file, or in a pipe as
  /// described for `decoder(forPath:whileWaiting:)`. Throws the same errors, and `.invalidRequest`
  /// for parameters that are not supported.
  public static func rawDecoder(
    forPath path: String, format: SampleFormat, sampleRate: Int, channelCount: Int,
    whileWaiting: ((_ end: @escaping @Sendable () -> Void) -> Void)? = nil
  ) throws(FileFailure) -> any SoundDecoder {
    let source: any ByteSource
    if whileWaiting != nil || path == StandardInput.path,
      let pipe = try PipeSource(path: path)
    {
      whileWaiting? { pipe.interrupt() }
      source = pipe
    } else {
      source = try LocalFile(path: path)
    }
    return FileDecoder(
      try SoundFileReader(
        raw: BufferedBytes(source), format: format, sampleRate: sampleRate,
        channelCount: channelCount))
  }

  /// Returns the name of the container (`WAV`, `FLAC`) with whose first bytes the file `path`
  /// begins; nil if it begins with none, or cannot be read.
  package static func container(ofFileAt path: String) -> String? {
    guard let file = try? LocalFile(path: path),
      let head = try? BufferedBytes(file).bytes(at: 0, count: SoundContainer.headByteCount)
    else { return nil }
    return SoundContainer(head: head)?.title
  }

  private static func decoder(
    of bytes: BufferedBytes, _ exactness: MPEGDecoder.Exactness,
    other: (BufferedBytes) throws(FileFailure) -> FileDecoder
  ) throws(FileFailure) -> any SoundDecoder {
    try bytes.opening { () throws(FileFailure) -> any SoundDecoder in
      switch try Contents(bytes) {
      case .aac: throw .isAAC(bytes.name)
      case .mpeg: return try MPEGDecoder(bytes, exactness: exactness)
      case .ogg: return try OggDecoder(bytes)
      case .other: return try otherDecoder(bytes, exactness, other)
      }
    }
  }

  private static func decoder(
    ofPipe pipe: PipeSource
  ) throws(FileFailure) -> any SoundDecoder {
    do throws(FileFailure) {
      return try decoder(for: pipe)
    } catch {
      guard error.kind == .unknownContents else { throw error }
      throw FileFailure(
        .unknownContents, "\(pipe.name) is not sound of a format that can be read from a pipe.",
        hint:
          "Send WAV, FLAC, MP3 or Ogg, save it to a file, or say how bare samples are to be read.",
        remedy: .describeSamples)
    }
  }

  /// Returns a decoder of `bytes`, and waits for the first of them. A remote file is read
  /// economically: see `MPEGDecoder.Exactness.economical`. Throws `.unknownContents`,
  /// `.unusableContents`, `.readFailed` if the opening was interrupted, and the errors that `bytes`
  /// throws.
  public static func decoder(for bytes: any ByteSource) throws(FileFailure) -> any SoundDecoder {
    try decoder(of: BufferedBytes(bytes), .economical) { bytes throws(FileFailure) in
      try FileDecoder(bytes)
    }
  }

  /// Returns a decoder of a remote file, as `decoder(for:)` does, but none of its reads waits
  /// forever, however much data the server sends. Throws the same errors, and those of
  /// `RemoteFile.probe`.
  public static func decoder(of file: RemoteFile) throws(FileFailure) -> any SoundDecoder {
    try RemoteDecoder(file)
  }

  /// Calls `open`. If the format is unknown, tries to decode MP3 that follows other data.
  private static func otherDecoder(
    _ bytes: BufferedBytes, _ exactness: MPEGDecoder.Exactness,
    _ open: (BufferedBytes) throws(FileFailure) -> FileDecoder
  ) throws(FileFailure) -> any SoundDecoder {
    // libsndfile uses the first complete Ogg page, at any offset.
    try OggHeaderCheck.check(beginningOf: bytes)
    do throws(FileFailure) {
      return try open(bytes)
    } catch {
      guard error.kind == .unknownContents, bytes.isSeekable else { throw error }
      bytes.position = 0
      guard let decoder = try? MPEGDecoder(bytes, exactness: exactness) else { throw error }
      return decoder
    }
  }

  /// Returns whether audio in `format` can be read. `format` is a file name extension (`flac`,
  /// `.flac`) or a MIME type (`audio/flac; rate=44100`).
  public static func supports(format: String) -> Bool {
    let first = format.prefix { $0 != ";" && $0 != " " }.lowercased()
    guard let slash = first.firstIndex(of: "/") else {
      return PathExtension.isSound(first.hasPrefix(".") ? String(first.dropFirst()) : first)
    }
    var type = first[first.index(after: slash)...]
    if type.hasPrefix("x-") { type = type.dropFirst(2) }
    let isSound = first.hasPrefix("audio/") || first == "application/ogg"
    return isSound && types.contains(String(type))
  }

  private static let types: Set<String> = [
    "wav", "wave", "vnd.wave", "pn-wav", "aiff", "caf", "flac", "ogg", "vorbis", "opus", "mpeg",
    "mp3", "mpeg3", "mpg", "basic", "au",
  ]

  /// The kind of contents according to the first bytes.
  private enum Contents {
    case aac
    case mpeg
    case ogg
    case other

    init(_ bytes: BufferedBytes) throws(FileFailure) {
      guard try !Self.isAAC(bytes) else {
        self = .aac
        return
      }
      let beginning = try bytes.peek(512)
      guard beginning.count > 0 else {
        try bytes.checkOpening()
        self = .other
        return
      }
      if case .other = OggContents(beginning) {
        self = try Self.isMPEG(beginning, bytes) ? .mpeg : .other
      } else {
        self = .ogg
      }
    }

    /// Returns whether the source has the MIME type of AAC, or begins with two AAC frames (ADTS,
    /// ISO/IEC 13818-7), which are similar to those of MP3.
    private static func isAAC(_ bytes: BufferedBytes) throws(FileFailure) -> Bool {
      func isBlock(_ head: Slice<UnsafeRawBufferPointer>) -> Bool {
        head.count >= 2 && head[head.startIndex] == 0xFF
          && head[head.startIndex + 1] & 0xF6 == 0xF0
      }
      let type = bytes.source.contentType?.lowercased() ?? ""
      if ["audio/aac", "audio/x-aac"].contains(where: type.hasPrefix) { return true }
      let head = try bytes.peek(6)
      guard head.count == 6, isBlock(head[...]) else { return false }
      let length = Int(head[3] & 3) << 11 | Int(head[4]) << 3 | Int(head[5]) >> 5
      let second = try bytes.peek(length + 2).dropFirst(length)
      return length > 6 && isBlock(second)
    }

    /// Returns whether the contents are MPEG audio. Files of other formats begin with an
    /// identifier, while a radio stream may begin within a block.
    private static func isMPEG(
      _ beginning: UnsafeRawBufferPointer, _ bytes: BufferedBytes
    ) throws(FileFailure) -> Bool {
      if SoundContainer(beginning: Array(beginning.prefix(4))) != nil { return false }
      if !bytes.isSeekable { return true }
      defer { bytes.position = 0 }
      // Files of other formats may also begin with ID3 tags.
      if try ID3Tags(skippedIn: bytes) != nil {
        return try SoundContainer(beginning: Array(bytes.peek(4))) != .flac
      }
      return try MPEGStream.search(bytes, upTo: 1, like: nil) != nil
    }
  }
}

extension FileFailure {
  /// Returns the failure to decode AAC audio.
  fileprivate static func isAAC(_ name: String) -> FileFailure {
    FileFailure(
      .unknownContents, "\(name) is AAC sound, which cannot be played.",
      hint: "Play an MP3, Ogg or Opus stream instead, or convert the file with ffmpeg.")
  }
}
