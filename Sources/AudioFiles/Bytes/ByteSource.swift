/// A source of bytes that can be read at any offset, for example a file on a network server.
///
/// A read may block. `interrupt` ends the wait from another thread.
public protocol ByteSource: AnyObject, Sendable {
  /// The name of the source in messages.
  var name: String { get }

  /// The total number of bytes; nil if it is unknown, or if the source has no end.
  var byteCount: Int? { get }

  /// Whether bytes can be read at any offset, and not only in sequence.
  var isSeekable: Bool { get }

  /// Fills `bytes` with the bytes from `offset` on and returns the number of bytes read. Blocks
  /// until at least one byte is available. Returns fewer bytes than `bytes` can hold only if no
  /// more are available yet; returns 0 at the end of the source, or after `interrupt`. One thread
  /// at a time. Throws `.readFailed` or `.cannotOpen` if no more bytes can be read.
  ///
  /// If it returns 0 before `byteCount` without an interruption, it is asked again a few times, and
  /// then the source is cut short: its audio is played up to there, and the decoder throws
  /// `.unusableContents`. A count below 0 or above `bytes.count` is a fatal error with a message.
  func read(
    into bytes: UnsafeMutableRawBufferPointer, at offset: Int
  ) throws(FileFailure) -> Int

  /// Returns the number of bytes that can be read from `offset` on without blocking. Any thread.
  func readyByteCount(at offset: Int) -> Int

  /// The current rate of incoming bytes per second; nil if all bytes are already available. Any
  /// thread.
  var bytesPerSecond: Double? { get }

  /// Returns whether the source fetches no more bytes until a read begins at `offset`, because
  /// enough bytes from `offset` on are already available. Any thread.
  func isWaiting(forReadAt offset: Int) -> Bool

  /// Whether the source can deliver no more bytes: reads of bytes that are not available fail
  /// instead of blocking. Any thread.
  var isBroken: Bool { get }

  /// Whether `interrupt` was called, and `proceed` was not called since. Any thread.
  var isInterrupted: Bool { get }

  /// Ends a blocking read, and makes all later reads return at once, until `proceed` is called. Any
  /// thread.
  func interrupt()

  /// Allows reads to block again. Any thread.
  func proceed()

  /// The title that the source announces as playing now, if it is a radio station. Any thread.
  var announcedTitle: String? { get }

  /// The MIME type that the source announces (such as `audio/mpeg`); nil if it announces none.
  var contentType: String? { get }

  /// The bit rate in bits per second that the source announces; nil if it announces none.
  var announcedBitRate: Int? { get }
}

/// Defaults for a source whose bytes are all available and which never blocks.
extension ByteSource {
  /// Default: false.
  public func isWaiting(forReadAt offset: Int) -> Bool { false }
  /// Default: false.
  public var isBroken: Bool { false }
  /// Default: nil, because all bytes are available.
  public var bytesPerSecond: Double? { nil }
  /// Default: nil.
  public var announcedTitle: String? { nil }
  /// Default: nil.
  public var contentType: String? { nil }
  /// In bits a second. Default: nil.
  public var announcedBitRate: Int? { nil }
}
