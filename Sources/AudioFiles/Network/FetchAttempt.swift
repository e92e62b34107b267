/// The state of one attempt to download: of its request and of the response. Each attempt begins
/// with a new one.
struct FetchAttempt {
  /// The first byte requested; nil if no range is requested.
  let start: Int?
  /// The end of the range requested, or of the range in the response if that is shorter; nil if no
  /// range is requested.
  var requestEnd: Int?
  var watch: TransferWatch
  /// The judgement of the response; nil before its header is complete.
  var verdict: ResponseVerdict?
  /// The announcements of titles among the bytes of a station; nil if there are none.
  var announcements: ICYMetadata?
  /// The number of bytes received that were not in the cache before.
  var newByteCount = 0
  /// The reason why the receiver refused bytes.
  var refusal: FileFailure?
  /// The reason why no connection was made.
  var disconnection: String?

  /// Creates an attempt that requests bytes from `start` on and is watched by `watch`.
  init(start: Int?, requestEnd: Int?, watch: TransferWatch) {
    self.start = start
    self.requestEnd = requestEnd
    self.watch = watch
  }
}

/// The address of a file, and the one to which its server has redirected.
struct RedirectedAddress {
  /// The maximum number of redirects, the same as in browsers (Fetch Standard, HTTP-redirect
  /// fetch). Podcast downloads may pass through six or more download counters, each with a
  /// redirect.
  private static let maximumRedirects = 20

  let original: WebAddress
  /// The address after redirects.
  private(set) var current: WebAddress
  /// The number of redirects since the last answer.
  private var count = 0

  init(_ original: WebAddress) {
    self.original = original
    current = original
  }

  /// Whether the file was redirected, and the present address has answered: it may be outdated.
  var mayBeOutdated: Bool { current != original && count == 0 }

  /// Follows a redirect to `reference`. Throws if there were too many redirects, or if it is no
  /// address.
  mutating func follow(_ reference: String) throws(FileFailure) {
    count += 1
    guard count <= Self.maximumRedirects else { throw .redirectsWithoutEnd(original) }
    current = try current.redirected(to: reference)
  }

  /// Notes that the present address has answered with the file.
  mutating func noteAnswer() { count = 0 }

  /// Returns to the original address.
  mutating func reset() { self = RedirectedAddress(original) }
}
