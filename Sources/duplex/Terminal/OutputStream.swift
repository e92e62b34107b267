import AudioFiles
import Glibc
import RealtimeAudio

/// A stream that somebody reads, or has stopped reading: Ctrl-S at a terminal, a pipe that is full.
///
/// A closed stream stops nothing, and once `stopWaiting` was called neither does a full one: what it
/// does not take waits here.
final class OutputStream: Sendable {
  private struct State {
    var waiting: [UInt8] = []
    var waits = true
    var isClosed = false
    /// Why it took no more, where that is not its reader's wish.
    var failure: String?
  }

  private let descriptor: Int32
  private let state = Guarded(State())

  /// The stream behind `descriptor`.
  init(_ descriptor: Int32) {
    self.descriptor = descriptor
  }

  /// Whether everything so far was taken.
  var isFlowing: Bool {
    state.withLock { state in
      flush(&state, milliseconds: 0)
      return state.waiting.isEmpty
    }
  }

  /// Writes `text`, or keeps it until there is room.
  func write(_ text: String) {
    state.withLock { state in
      guard !state.isClosed else { return }
      state.waiting += Array(FileName.shown(text).utf8)
      flush(&state, milliseconds: state.waits ? -1 : 0)
    }
  }

  /// Nobody waits for this stream any more.
  func stopWaiting() {
    state.withLock { $0.waits = false }
  }

  /// Waits for as long as something is taken now and then.
  func drain(milliseconds: Int32) {
    state.withLock { flush(&$0, milliseconds: milliseconds) }
  }

  /// Why not all was taken; nil where all was, or where the reader has gone and wants no more.
  var failure: String? {
    state.withLock { state in
      state.failure ?? (state.waiting.isEmpty ? nil : "its reader stands still")
    }
  }

  /// Writes what there is room for, waiting so long for each piece; -1 is for ever.
  private func flush(_ state: inout State, milliseconds: Int32) {
    while !state.waiting.isEmpty {
      var set = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
      let answer = unsafe poll(&set, 1, milliseconds)
      if answer < 0, errno == EINTR { continue }
      guard answer > 0 else { return }
      // A pipe that is ready has room for a page.
      let piece = state.waiting.prefix(4096)
      let count = unsafe piece.withUnsafeBytes { memory in
        unsafe Glibc.write(descriptor, memory.baseAddress, memory.count)
      }
      if count > 0 {
        state.waiting.removeFirst(count)
      } else if errno != EINTR && errno != EAGAIN {
        let number = errno
        if number != EPIPE, number != EBADF {
          state.failure = unsafe String(cString: strerror(number))
        }
        state.isClosed = true
        state.waiting = []
      }
    }
  }
}
