import AudioBasics
import Synchronization
import RealtimeAudio

/// Finds the decoder for sound, by what it is and not by what it is called.
/// Any thread but the audio thread.
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
  /// A decoder of the file `path`, all of whose seeks are exact; standard input where it is `-`.
  ///
  /// A pipe or a device is read as it comes, where `whileWaiting` is given: the function that it
  /// gets ends a wait for the program at the other end, from any thread. Else both are refused.
  /// Throws as `SoundFileReader` does.
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
    guard path != StandardInput.path else { return try FileDecoder(path: path) }
    return try decoder(of: BufferedBytes(try LocalFile(path: path)), .exact) {
      _ throws(FileFailure) in
      try FileDecoder(path: path)
    }
  }

  /// A decoder of bare samples that the caller describes, in a file, or in a pipe as
  /// `decoder(forPath:whileWaiting:)` reads one. Throws as that, and `.invalidRequest` for what
  /// cannot be read.
  public static func rawDecoder(
    forPath path: String, format: SampleFormat, sampleRate: Int, channelCount: Int,
    whileWaiting: (_ end: @escaping @Sendable () -> Void) -> Void
  ) throws(FileFailure) -> any SoundDecoder {
    let source: any ByteSource
    if let pipe = try PipeSource(path: path) {
      whileWaiting { pipe.interrupt() }
      source = pipe
    } else {
      source = try LocalFile(path: path)
    }
    return FileDecoder(
      try SoundFileReader(
        raw: BufferedBytes(source), format: format, sampleRate: sampleRate,
        channelCount: channelCount))
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

  /// A decoder of `bytes`: waits for the first of them. What is far is read sparingly: see
  /// `MPEGDecoder.Exactness.economical`. Throws `.unusableContents`, `.readFailed` where the
  /// opening was interrupted, and what `bytes` throw.
  public static func decoder(for bytes: any ByteSource) throws(FileFailure) -> any SoundDecoder {
    try decoder(of: BufferedBytes(bytes), .economical) { bytes throws(FileFailure) in
      try FileDecoder(bytes)
    }
  }

  /// A decoder of what lies behind an address: as `decoder(for:)`, but that none of its reads waits
  /// for ever, however much a server sends. Throws as that and `RemoteFile.probe` do.
  public static func decoder(of file: RemoteFile) throws(FileFailure) -> any SoundDecoder {
    try RemoteDecoder(file)
  }

  /// What `open` gives; where it knows nothing of the sort, perhaps MP3 behind some garbage.
  private static func otherDecoder(
    _ bytes: BufferedBytes, _ exactness: MPEGDecoder.Exactness,
    _ open: (BufferedBytes) throws(FileFailure) -> FileDecoder
  ) throws(FileFailure) -> any SoundDecoder {
    // libsndfile takes the first whole page, wherever it lies.
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

  /// Whether sound can be read that is called `format`: the ending of a name (`flac`, `.flac`) or a
  /// MIME type (`audio/flac; rate=44100`).
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

  /// Kind of contents that the first bytes announce.
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

    /// Whether the source says so, or begins with two blocks of AAC (ADTS, ISO/IEC 13818-7), which
    /// look nearly like those of MP3.
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

extension FileFailure {
  /// It is sound that nothing here decodes.
  fileprivate static func isAAC(_ name: String) -> FileFailure {
    FileFailure(
      .unknownContents, "\(name) is AAC sound, which cannot be played.",
      hint: "Play an MP3, Ogg or Opus stream instead, or convert the file with ffmpeg.")
  }
}

/// The decoder of a remote file. A server may send for ever and have hardly any sound in it: for
/// the first second of sound and for each that follows the player waits no longer than
/// `RemoteFileTimeouts.sounding` says.
final class RemoteDecoder: ForwardingDecoder {
  private let file: RemoteFile
  let decoder: any SoundDecoder
  private let wait: Mutex<SoundWait>

  /// Finds the sound in `file`. Throws as `Decoding.decoder(for:)` and `RemoteFile.probe` do.
  init(_ file: RemoteFile) throws(FileFailure) {
    self.file = file
    let decoder = try file.probe { () throws(FileFailure) in try Decoding.decoder(for: file) }
    self.decoder = decoder
    wait = Mutex(
      SoundWait(
        longest: file.timeouts.sounding, waited: HostClock.seconds - file.asked,
        sampleRate: decoder.sampleRate))
  }

  /// A reader that has waited too long reads on, and gets the error.
  func isReady(prebuffer seconds: Double?) -> Bool {
    let isReady = decoder.isReady(prebuffer: seconds)
    return wait.withLock { $0.look(isReady: isReady, now: HostClock.seconds) } || isReady
  }

  func read(
    into buffer: inout SampleBuffer, at target: Int, frames: Int
  ) throws(FileFailure) -> Int {
    let count = try waiting { () throws(FileFailure) in
      try decoder.read(into: &buffer, at: target, frames: frames)
    }
    wait.withLock { $0.heard(count) }
    return count
  }

  func seek(toFrame frame: Int) throws(FileFailure) {
    try waiting { () throws(FileFailure) in try decoder.seek(toFrame: frame) }
  }

  private func waiting<Answer>(
    _ read: () throws(FileFailure) -> Answer
  ) throws(FileFailure) -> Answer {
    let began = HostClock.seconds
    defer { wait.withLock { $0.waited(HostClock.seconds - began) } }
    return try file.awaitSound(atMost: wait.withLock { $0.rest }, read)
  }
}

/// Time that the player has waited for the next second of sound, and the limit on it.
struct SoundWait {
  private let longest: Double
  private let sampleRate: Int
  private var seconds: Double
  /// Frames of the second that have come.
  private var frames = 0
  /// When the player last looked whether there was enough to read on, and there was not.
  private var lastLook: Double?

  /// Seconds that the player waited until there was any sound.
  init(longest: Double, waited seconds: Double, sampleRate: Int) {
    self.longest = longest
    self.sampleRate = sampleRate
    self.seconds = seconds
  }

  /// Seconds for which the wait may still go on.
  var rest: Double { max(0, longest - seconds) }

  /// So long was waited.
  mutating func waited(_ seconds: Double) {
    self.seconds += seconds
    lastLook = nil
  }

  /// The player looks whether there is enough. Whether it has waited too long.
  mutating func look(isReady: Bool, now: Double) -> Bool {
    // At most 0.1 s is counted between two looks: the caller may have paused.
    if let lastLook, !isReady { seconds += min(now - lastLook, 0.1) }
    lastLook = isReady ? nil : now
    return seconds >= longest
  }

  /// That number of frames came.
  mutating func heard(_ count: Int) {
    frames += count
    guard frames >= sampleRate else { return }
    frames = 0
    seconds = 0
  }
}
