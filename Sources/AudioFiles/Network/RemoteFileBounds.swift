/// How much a `RemoteFile` fetches and keeps, in bytes.
public struct RemoteFileBounds: Sendable {
  /// Fetched ahead of the reader, at most.
  public var readAhead = 1 << 20
  /// Asked for at first, and after a jump; each request that goes on asks for twice as much.
  public var firstRequest = 64 << 10
  /// Gaps up to this are downloaded through; beyond, a new transfer begins.
  public var gap = 256 << 10
  /// Kept on disk.
  public var cache = 256 << 20
  /// Kept on disk of a stream without an end.
  public var window = 4 << 20
  /// What the kernel may take in beyond that, while a transfer pauses.
  public var receiveBuffer = 128 << 10

  /// What suits sound files.
  public init() {}
}
