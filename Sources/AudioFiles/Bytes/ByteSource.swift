/// Bytes that can be read from any place, wherever they come from: a file behind a network.
///
/// A read may wait. `interrupt` ends the wait from another thread.
public protocol ByteSource: AnyObject, Sendable {
  /// What messages call it.
  var name: String { get }

  /// How many bytes there are; nil where that is not known, or where there is no end.
  var byteCount: Int? { get }

  /// Whether bytes can be had from any place, and not only one after the other.
  var isSeekable: Bool { get }

  /// Fills `bytes` with what begins at `offset` and returns how many bytes came: at least one, and
  /// less than its room only where no more are there yet; 0 at the end, or after `interrupt`. Waits
  /// until there is something. One thread at a time. Throws `.readFailed` or `.cannotOpen` where no
  /// more can be had.
  func read(
    into bytes: UnsafeMutableRawBufferPointer, at offset: Int
  ) throws(FileFailure) -> Int

  /// How many bytes can be read from `offset` on without waiting. Any thread.
  func readyByteCount(at offset: Int) -> Int

  /// Bytes a second that come in at present; nil where they are all there. Any thread.
  var bytesPerSecond: Double? { get }

  /// Whether it fetches no more bytes until a read begins at `offset`, because enough lie ahead of
  /// that place. Any thread.
  func isWaiting(forReadAt offset: Int) -> Bool

  /// Whether no more bytes can be had: reads of what is not here yet fail instead of waiting. Any
  /// thread.
  var isBroken: Bool { get }

  /// Whether `interrupt` was called and `proceed` not yet. Any thread.
  var isInterrupted: Bool { get }

  /// Ends a read that waits, and all further ones at once, until `proceed`. Any thread.
  func interrupt()

  /// Lets reads wait again. Any thread.
  func proceed()

  /// What the source says is playing right now, where it is a radio station. Any thread.
  var announcedTitle: String? { get }

  /// What the source says its bytes are (`audio/mpeg`); nil where it does not.
  var contentType: String? { get }

  /// Bits a second that the source announces; nil where it does not.
  var announcedBitRate: Int? { get }
}

/// Defaults for a source whose bytes are all there, and which waits for nothing.
extension ByteSource {
  /// Default: false.
  public func isWaiting(forReadAt offset: Int) -> Bool { false }
  /// Default: false.
  public var isBroken: Bool { false }
  /// Default: nil, all bytes are there.
  public var bytesPerSecond: Double? { nil }
  /// Nothing says so.
  public var announcedTitle: String? { nil }
  /// Nothing says so.
  public var contentType: String? { nil }
  /// Nothing says how many bits a second there are.
  public var announcedBitRate: Int? { nil }
}
