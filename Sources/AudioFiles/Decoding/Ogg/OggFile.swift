import Glibc

/// What Ogg pages hold.
enum OggContents {
  case vorbis
  case opus
  case other

  /// What the first page in `bytes` begins.
  init(_ bytes: UnsafeRawBufferPointer) {
    guard bytes.holds("OggS", at: 0), bytes.count > 27 else {
      self = .other
      return
    }
    let packet = 27 + Int(bytes[26])
    if bytes.holds("\u{1}vorbis", at: packet) {
      self = .vorbis
    } else if bytes.holds("OpusHead", at: packet) {
      self = .opus
    } else {
      self = .other
    }
  }
}

/// One decoder of Ogg streams in a byte source, which is left with the failures of its reads.
protocol OggFile: AnyObject {
  /// Of the stream read last.
  var sampleRate: Int { get }
  /// Of the stream read last.
  var channelCount: Int { get }
  /// nil where there is only one way.
  var frameCount: Int? { get }
  /// Bits a second.
  var bitRate: Int? { get }
  /// Of the stream read last.
  var tags: SoundFileTags { get }
  /// Whether a read came to a stream after another; whoever takes notice says false again.
  var isNewStream: Bool { get set }

  /// Reads at most so many frames; none at the end, or of a stream with other channels.
  func read(into samples: UnsafeMutablePointer<Float>, frames: Int, channelCount: Int) -> Int
  /// Goes to the very frame. False where it failed.
  func seek(to frame: Int) -> Bool
}

/// What the callbacks of both libraries do.
extension BufferedBytes {
  static func of(_ owner: UnsafeMutableRawPointer?) -> BufferedBytes? {
    owner.map { Unmanaged<BufferedBytes>.fromOpaque($0).takeUnretainedValue() }
  }

  /// As `fseek`. Refuses to go anywhere after a failure or an interruption: the libraries take a read
  /// of nothing for the end of the file, and would look for what lies before it for ever.
  func seekForCallback(_ offset: Int, _ origin: Int32) -> Int32 {
    let origin =
      switch origin {
      case SEEK_SET: 0
      case SEEK_CUR: position
      default: byteCount ?? 0
      }
    guard isSeekable, !isStopped, let target = origin.place(movedBy: offset) else { return -1 }
    position = target
    return 0
  }
}

extension FileFailure {
  /// Pages of another kind, or none.
  static func noOgg(_ name: String, _ contents: OggContents) -> FileFailure {
    if case .other = contents {
      return FileFailure(
        .unusableContents, "\(name) holds neither Vorbis nor Opus.",
        hint: "Save it to a file first; ffmpeg converts it.")
    }
    return FileFailure(
      .unusableContents, "\(name) begins like an Ogg file, but is damaged or cut short.",
      hint: "Make it anew, or convert it with ffmpeg.")
  }
}
