import Glibc
import Testing

@testable import duplex

/// Tests of a stream whose reader does not read, a pipe.
@Suite struct OutputStreamTests {
  /// Calls `body` with a stream to a pipe that holds one page, and the descriptor of its reader,
  /// after text of three pages was written to it.
  private func withPipe(_ body: (OutputStream, Int32) -> Void) throws {
    var ends: [Int32] = [0, 0]
    try #require(pipe(&ends) == 0)
    defer {
      close(ends[0])
      close(ends[1])
    }
    // F_SETPIPE_SZ
    try #require(fcntl(ends[1], 1031, 4096) == 4096)
    let stream = OutputStream(ends[1])
    stream.stopWaiting()
    stream.write(String(repeating: "x", count: 3 * 4096))
    body(stream, ends[0])
  }

  @Test func `a reader that does not read is waited for once`() throws {
    try withPipe { stream, _ in
      var checks = 0
      for _ in 0..<2 {
        stream.drain(milliseconds: 300) {
          checks += 1
          return false
        }
      }
      // 300 ms in pieces of 50 ms, and none of them in the second call.
      #expect(checks == 5 && stream.failure != nil)
    }
  }

  @Test func `the wait is short if the user wants the end`() throws {
    try withPipe { stream, _ in
      var checks = 0
      stream.drain(milliseconds: 600_000) {
        checks += 1
        return true
      }
      // 200 ms after the first check, in pieces of 50 ms.
      #expect(checks == 4 && stream.failure != nil)
    }
  }

  @Test func `a reader that reads receives all text although the user wants the end`() throws {
    try withPipe { stream, reader in
      var (received, page) = (0, [UInt8](repeating: 0, count: 4096))
      stream.drain(milliseconds: 600_000) {
        received += read(reader, &page, 4096)
        return true
      }
      received += read(reader, &page, 4096)
      #expect(received == 3 * 4096 && stream.failure == nil && stream.isFlowing)
    }
  }
}
