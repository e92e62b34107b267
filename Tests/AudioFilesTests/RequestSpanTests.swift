import Testing

@testable import AudioFiles

@Suite struct RequestSpanTests {
  @Test func `sequential requests double in size up to a bound`() {
    var span = RequestSpan(first: 100)
    #expect(span.next(from: 0, bound: 500) == 0..<100)
    #expect(span.next(from: 100, bound: 500) == 100..<300)
    #expect(span.next(from: 300, bound: 500) == 300..<700)
    #expect(span.next(from: 700, bound: 500) == 700..<1200)
  }

  @Test func `the first request after a jump is small`() {
    var span = RequestSpan(first: 100)
    _ = span.next(from: 0, bound: 500)
    _ = span.next(from: 100, bound: 500)
    #expect(span.next(from: 9000, bound: 500) == 9000..<9100)
  }
}
