/// How much of a file the next request asks for: little where nobody knows yet whether more is
/// wanted, because what is on its way through the buffers of servers and kernels cannot be called
/// back; twice as much each time the reader goes on.
struct RequestSpan {
  private let first: Int
  private var count = 0
  private var end: Int?

  /// `first` bytes at the beginning, and after each jump.
  init(first: Int) {
    self.first = max(first, 1)
  }

  /// What to ask for from `offset` on: at most `bound` bytes, or the first so many.
  mutating func next(from offset: Int, bound: Int) -> Range<Int> {
    count = offset == end ? min(count * 2, max(bound, first)) : first
    end = offset + count
    return offset..<offset + count
  }
}
