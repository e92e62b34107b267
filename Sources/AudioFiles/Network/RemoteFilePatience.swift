/// How long a `RemoteFile` waits for a server, and how often it tries again. Times are seconds.
public struct RemoteFilePatience: Sendable {
  /// Until a server is found and answers at all.
  public var connecting = 5.0
  /// Until the header of a response is there, whole.
  public var answering = 10.0
  /// Until the first 4 KiB are there, with all tries and redirects.
  public var opening = 10.0
  /// From then on, until a decoder has found the sound: see `RemoteFile.probe`.
  public var probing = 10.0
  /// Without a byte before a transfer counts as broken.
  public var stalling = 10.0
  /// The time over which fewer than `slowestRate` bytes a second count as a break.
  public var dripping = 10.0
  /// Bytes a second.
  public var slowestRate = 256.0
  /// Before the first new try; each further one waits twice as long.
  public var firstPause = 0.25
  /// New tries in a row that bring no new byte.
  public var tryCount = 5

  /// The usual patience of somebody who listens.
  public init() {}
}
