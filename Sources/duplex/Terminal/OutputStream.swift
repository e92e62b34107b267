import AudioFiles
import Glibc
import RealtimeAudio

/// A stream whose reader may stall, such as a terminal after Ctrl-S or a full pipe.
///
/// A closed stream does not block the program. After `stopWaiting`, a full stream does not either:
/// the bytes that it does not accept are kept here.
final class OutputStream: Sendable {
  private struct State {
    var waiting: [UInt8] = []
    var waits = true
    var isClosed = false
    /// A non-blocking file description of the same terminal; nil if the descriptor of the stream is
    /// used.
    var ownDescriptor: Int32?
    /// Whether the reader accepted nothing during the time allowed for it.
    var isGivenUp = false
    /// The reason for lost output, unless the reader closed the stream.
    var failure: String?
  }

  private let descriptor: Int32
  private let state = MutexBox(State())
  /// The maximum number of bytes kept for a reader that accepts none: hours of events.
  private static let maximumBacklogByteCount = 4 << 20

  /// Creates the stream of `descriptor`.
  init(_ descriptor: Int32) {
    self.descriptor = descriptor
  }

  /// Whether all bytes so far were accepted.
  var isFlowing: Bool {
    state.withLock { state in
      flush(&state, milliseconds: 0)
      return state.waiting.isEmpty
    }
  }

  /// Writes `text`, or keeps it until there is room. If writes do not wait and too many bytes are
  /// pending, the text is dropped, and `failure` reports it.
  func write(_ text: String) {
    state.withLock { state in
      guard !state.isClosed else { return }
      let bytes = FileName.shown(text).utf8
      if !state.waits, state.waiting.count + bytes.count > Self.maximumBacklogByteCount {
        state.failure = "its reader does not read"
        return
      }
      state.waiting += Array(bytes)
      flush(&state, milliseconds: state.waits ? -1 : 0)
    }
  }

  /// Makes writes to this stream return without waiting.
  ///
  /// A terminal reports that it is writable even if a write would block (`poll` in the kernel's
  /// `drivers/tty/n_tty.c`). Therefore a separate non-blocking file description is opened, because
  /// the inherited one is shared with other programs. If it cannot be opened, as for a terminal of
  /// another user, writes may still block.
  func stopWaiting() {
    state.withLock { state in
      guard state.waits else { return }
      state.waits = false
      guard isatty(descriptor) == 1 else { return }
      let flags = O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC
      let own = unsafe open("/proc/self/fd/\(descriptor)", flags)
      if own >= 0 { state.ownDescriptor = own }
    }
  }

  /// The time for which a reader that accepts nothing is waited for if the user wants the end.
  private static let urgentMilliseconds: Int32 = 200
  /// The interval in which `isUrgent` is checked.
  private static let checkMilliseconds: Int32 = 50

  /// Writes the pending bytes, and waits up to `milliseconds` for each part, or up to 200 ms once
  /// `isUrgent` returns true. A reader that accepts nothing during this time is not waited for
  /// again.
  func drain(milliseconds: Int32, isUrgent: () -> Bool) {
    state.withLock { state in
      var left = state.isGivenUp ? 0 : milliseconds
      while true {
        let (count, pause) = (state.waiting.count, min(left, Self.checkMilliseconds))
        flush(&state, milliseconds: pause)
        guard !state.waiting.isEmpty else { break }
        left = state.waiting.count < count ? milliseconds : left - pause
        guard left > 0 else { break }
        if isUrgent() { left = min(left, Self.urgentMilliseconds) }
      }
      state.isGivenUp = !state.waiting.isEmpty
    }
  }

  /// The reason for which not all bytes were accepted; nil if they were, or if the reader closed
  /// the stream.
  var failure: String? {
    state.withLock { state in
      state.failure ?? (state.waiting.isEmpty ? nil : "its reader does not read")
    }
  }

  /// Writes as many bytes as the stream accepts, and waits up to `milliseconds` for each part; -1
  /// waits without a limit.
  private func flush(_ state: inout State, milliseconds: Int32) {
    let descriptor = state.ownDescriptor ?? self.descriptor
    var timeout = milliseconds
    while !state.waiting.isEmpty {
      var set = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
      let answer = unsafe poll(&set, 1, timeout)
      if answer < 0, errno == EINTR { continue }
      guard answer > 0 else { return }
      // A pipe that is ready has room for a page.
      let piece = state.waiting.prefix(4096)
      let count = unsafe piece.withUnsafeBytes { memory in
        unsafe Glibc.write(descriptor, memory.baseAddress, memory.count)
      }
      if count > 0 {
        state.waiting.removeFirst(count)
        timeout = milliseconds
      } else if errno == EAGAIN {
        // A terminal may have room for one byte, but not for a line break, which needs two.
        guard timeout != 0 else { return }
        usleep(10_000)
        if timeout > 0 { timeout = max(0, timeout - 10) }
      } else if errno != EINTR {
        let number = errno
        // A terminal that was closed is a reader that is gone, too.
        let isClosedTerminal = number == EIO && state.ownDescriptor != nil
        if number != EPIPE, !isClosedTerminal {
          state.failure = unsafe String(cString: strerror(number))
        }
        state.isClosed = true
        state.waiting = []
      }
    }
  }
}
