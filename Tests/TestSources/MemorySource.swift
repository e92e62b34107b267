import AudioFiles
import RealtimeAudio

/// Bytes in memory that behave as a network source may.
package final class MemorySource: ByteSource, @unchecked Sendable {
  // @unchecked because all that changes is behind a lock.
  private struct State {
    var readCount = 0
    var place = 0
    var isInterrupted = false
    var failsBehind = Int.max
    var interruptsBehind = Int.max
    var readyEnd: Int?
    var waitsForReader = false
    var bytesPerSecond: Double?
  }

  private let contents: ArraySlice<UInt8>
  private let state = MutexBox(State())
  private let pieceByteCount: Int
  package let name = "the source"
  package let byteCount: Int?
  package let isSeekable: Bool
  package let contentType: String?
  package var announcedTitle: String? { nil }
  package var announcedBitRate: Int? { nil }

  package static let failure = FileFailure(.readFailed, "The line is cut.", hint: "Mend it.")

  /// Creates a source of `contents`. The last `missingByteCount` bytes are in its byte count, but
  /// cannot be read.
  package init(
    _ contents: [UInt8], isSeekable: Bool = true, hasLength: Bool = true,
    pieceByteCount: Int = 16384, contentType: String? = nil, missingByteCount: Int = 0
  ) {
    self.contents = contents.dropLast(missingByteCount)
    self.isSeekable = isSeekable
    self.pieceByteCount = pieceByteCount
    self.contentType = contentType
    byteCount = hasLength ? contents.count : nil
  }

  /// The total number of bytes read.
  package var readCount: Int { state.withLock { $0.readCount } }

  /// The position after the last byte read.
  package var place: Int { state.withLock { $0.place } }

  /// Makes reads from `offset` on fail.
  package func fail(behind offset: Int) { state.withLock { $0.failsBehind = offset } }

  /// Makes the first read from `offset` on interrupt itself, as a thread that calls `interrupt`
  /// would.
  package func interrupt(behind offset: Int) { state.withLock { $0.interruptsBehind = offset } }

  /// Sets the end of the bytes received so far, and the rate of further bytes.
  package func setReady(upTo end: Int, bytesPerSecond: Double?) {
    state.withLock {
      $0.readyEnd = end
      $0.bytesPerSecond = bytesPerSecond
    }
  }

  package func read(
    into bytes: UnsafeMutableRawBufferPointer, at offset: Int
  ) throws(FileFailure) -> Int {
    let isFailing = state.withLock { state in
      if offset >= state.interruptsBehind {
        state.isInterrupted = true
        state.interruptsBehind = .max
      }
      return offset >= state.failsBehind
    }
    if isInterrupted { return 0 }
    if isFailing { throw Self.failure }
    let count = max(0, min(bytes.count, pieceByteCount, contents.count - offset))
    if count > 0 { bytes.copyBytes(from: contents[offset..<offset + count]) }
    state.withLock {
      $0.readCount += count
      $0.place = offset + count
    }
    return count
  }

  /// Makes the source receive no more bytes until more are read.
  package func waitForReader() { state.withLock { $0.waitsForReader = true } }

  package func isWaiting(forReadAt offset: Int) -> Bool {
    state.withLock { $0.waitsForReader && $0.place == offset }
  }

  package func readyByteCount(at offset: Int) -> Int {
    max(0, (state.withLock { $0.readyEnd } ?? contents.count) - offset)
  }

  package var bytesPerSecond: Double? { state.withLock { $0.bytesPerSecond } }
  package var isInterrupted: Bool { state.withLock { $0.isInterrupted } }
  package func interrupt() { state.withLock { $0.isInterrupted = true } }
  package func proceed() { state.withLock { $0.isInterrupted = false } }
}
