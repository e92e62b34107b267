/// The properties of a remote file, taken from its first response.
struct RemoteFacts: Equatable, Sendable {
  /// The address after redirects; nil before the first response.
  var location: WebAddress?
  /// The length of the file in bytes; nil if the server does not report it.
  var byteCount: Int?
  /// Whether the server supports ranges.
  var hasRanges = false
  /// Whether it is a radio station, which never ends.
  var isLive = false
  var validator = FileValidator()
  var contentType: String?
  /// The bit rate in bits per second.
  var bitRate: Int?
}
