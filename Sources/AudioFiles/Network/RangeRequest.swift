/// The bytes that one request asks for (RFC 9110, section 14.2).
struct RangeRequest {
  let bytes: Range<Int>
  /// What the file was when its first bytes came: of another file the server sends all.
  let validator: FileValidator?

  /// The lines of the request's header.
  var lines: [String] {
    ["Range: bytes=\(bytes.lowerBound)-\(bytes.upperBound - 1)"]
      + (validator?.condition.map { ["If-Range: \($0)"] } ?? [])
  }
}

/// Size of the next request: small where it is not known yet whether more is wanted, because what
/// is on its way through the buffers of servers and kernels cannot be called back; twice as much
/// each time the reader goes on.
struct RequestSpan {
  private let first: Int
  private var count = 0
  private var end: Int?

  /// `first` bytes at the beginning, and after each jump.
  init(first: Int) {
    self.first = max(first, 1)
  }

  /// What to ask for from `offset` on: at most `bound` bytes, fewer at first.
  mutating func next(from offset: Int, bound: Int) -> Range<Int> {
    count = offset == end ? min(count * 2, max(bound, first)) : first
    end = offset + count
    return offset..<offset + count
  }
}
