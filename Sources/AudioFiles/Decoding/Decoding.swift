import Glibc

/// Finds the decoder for sound, by what it is and not by what it is called.
public enum Decoding {
  /// A decoder of the file `path`, all of whose seeks are exact; standard input where it is `-`.
  /// Throws as `SoundFileReader` does.
  public static func decoder(forPath path: String) throws(FileFailure) -> any SoundDecoder {
    guard path != "-" else { return try decoderOfStandardInput() }
    let file = try LocalFile(path: path)
    // What comes through a pipe can be looked at only once.
    guard file.isSeekable else { return try FileDecoder(path: path) }
    let bytes = BufferedBytes(file)
    switch try Contents(bytes) {
    case .mpeg: return try MPEGDecoder(bytes, exactness: .exact)
    case .ogg: return try OggDecoder(bytes)
    case .other:
      return try otherDecoder(bytes, .exact) { () throws(FileFailure) in
        try FileDecoder(path: path)
      }
    }
  }

  /// What comes through a pipe is played as it comes.
  private static func decoderOfStandardInput() throws(FileFailure) -> any SoundDecoder {
    let input: FileDescriptor
    do throws(SystemError) {
      input = try FileDescriptor(duplicating: STDIN_FILENO)
    } catch {
      throw error.number == EBADF ? .closedInput : .opening("standard input", error)
    }
    guard input.position == nil else { return try FileDecoder(path: "-") }
    let source = try PipeSource(input)
    do throws(FileFailure) {
      return try decoder(for: source)
    } catch {
      guard error == .noMPEG(source.name) else { throw error }
      throw FileFailure(
        .unusableContents, "\(source.name) does not begin like sound of any kind known.",
        hint: "Send WAV, FLAC, MP3 or Ogg; bare samples: duplex play --raw FORMAT,RATE,CHANNELS -")
    }
  }

  /// A decoder of `bytes`: waits for the first of them. What is far is read sparingly: see
  /// `MPEGDecoder.Exactness.economical`. Throws `.unusableContents`, `.readFailed` where the opening
  /// was interrupted, and what `bytes` throw.
  public static func decoder(for bytes: any ByteSource) throws(FileFailure) -> any SoundDecoder {
    let buffered = BufferedBytes(bytes)
    switch try Contents(buffered) {
    case .mpeg: return try MPEGDecoder(buffered, exactness: .economical)
    case .ogg: return try OggDecoder(buffered)
    case .other:
      return try otherDecoder(buffered, .economical) { () throws(FileFailure) in
        try FileDecoder(buffered)
      }
    }
  }

  /// What `open` gives; where it knows nothing of the sort, perhaps MP3 behind some garbage.
  private static func otherDecoder(
    _ bytes: BufferedBytes, _ exactness: MPEGDecoder.Exactness,
    _ open: () throws(FileFailure) -> FileDecoder
  ) throws(FileFailure) -> any SoundDecoder {
    do throws(FileFailure) {
      return try open()
    } catch {
      guard error.kind == .unusableContents, bytes.isSeekable else { throw error }
      bytes.position = 0
      guard SoundSource.kind(ofFile: UInt32(try bytes.peek(4).number(at: 0))) == nil,
        let decoder = try? MPEGDecoder(bytes, exactness: exactness)
      else { throw error }
      return decoder
    }
  }

  /// Whether sound can be read that is called `format`: the ending of a name (`flac`, `.flac`) or a
  /// MIME type (`audio/flac; rate=44100`).
  public static func supports(format: String) -> Bool {
    let first = format.prefix { $0 != ";" && $0 != " " }.lowercased()
    guard let slash = first.firstIndex(of: "/") else {
      return endings.contains(first.hasPrefix(".") ? String(first.dropFirst()) : first)
    }
    var type = first[first.index(after: slash)...]
    if type.hasPrefix("x-") { type = type.dropFirst(2) }
    let isSound = first.hasPrefix("audio/") || first == "application/ogg"
    return isSound && types.contains(String(type))
  }

  private static let endings: Set<String> = [
    "wav", "wave", "rf64", "w64", "aiff", "aif", "aifc", "caf", "flac", "ogg", "oga", "opus",
    "mp3", "mp2", "mpga", "au", "snd", "voc", "ircam", "sf", "paf", "svx", "nist", "sph",
  ]

  private static let types: Set<String> = [
    "wav", "wave", "vnd.wave", "pn-wav", "aiff", "caf", "flac", "ogg", "vorbis", "opus", "mpeg",
    "mp3", "mpeg3", "mpg", "basic", "au",
  ]

  /// What the first bytes announce.
  private enum Contents {
    case mpeg
    case ogg
    case other

    init(_ bytes: BufferedBytes) throws(FileFailure) {
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

    /// Sound files of other kinds begin with letters of their own, and a radio anywhere in a block.
    private static func isMPEG(
      _ beginning: UnsafeRawBufferPointer, _ bytes: BufferedBytes
    ) throws(FileFailure) -> Bool {
      if SoundSource.kind(ofFile: UInt32(beginning.number(at: 0))) != nil { return false }
      if !bytes.isSeekable { return true }
      defer { bytes.position = 0 }
      // Other kinds may have such tags before them as well.
      if try ID3Tags(skippedIn: bytes) != nil {
        return try !bytes.peek(4).holds("fLaC", at: 0)
      }
      return try MPEGStream.search(bytes, upTo: 1, like: nil) != nil
    }
  }
}
