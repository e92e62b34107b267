/// A request for a range of bytes (RFC 9110, section 14.2).
struct RangeRequest {
  let bytes: Range<Int>
  /// The validator from the first response. If the file has changed since, the server sends the
  /// whole new file.
  let validator: FileValidator?

  /// The header lines of the request.
  var lines: [String] {
    ["Range: bytes=\(bytes.lowerBound)-\(bytes.upperBound - 1)"]
      + (validator?.condition.map { ["If-Range: \($0)"] } ?? [])
  }
}

/// The size of the next request. It is small while it is unknown whether more bytes are needed,
/// because bytes already in the buffers of servers and kernels cannot be cancelled. It doubles each
/// time the reader continues at the end of the last request.
struct RequestSpan {
  private let first: Int
  private var count = 0
  private var end: Int?

  /// Starts with requests of `first` bytes, at the beginning and after each jump.
  init(first: Int) {
    self.first = max(first, 1)
  }

  /// Returns the range to request from `offset` on. Its length grows up to `bound` bytes.
  mutating func next(from offset: Int, bound: Int) -> Range<Int> {
    count = offset == end ? min(count * 2, max(bound, first)) : first
    end = offset + count
    return offset..<offset + count
  }
}
