import CRealtime
import Glibc

/// The time that a thread computed or slept. The time that it waited for a processor does not
/// count, so that a busy machine does not make it late.
package struct ThreadTime: Sendable {
  private let clock: clockid_t
  private let statePath: String
  private var last = (now: 0, computed: 0)

  /// The time of the calling thread; nil where the system does not tell of it.
  package init?() {
    var clock = clockid_t()
    guard pthread_getcpuclockid(pthread_self(), &clock) == 0 else { return nil }
    self.clock = clock
    statePath = "/proc/self/task/\(linux_thread_number())/stat"
  }

  /// Begins to count. Any thread, one at a time.
  package mutating func start() {
    last = (Int(clamping: HostClock.nanoseconds), computed)
  }

  /// Nanoseconds since it began to count, or since it was asked last.
  package mutating func passed() -> Int {
    let before = last
    start()
    return isRunnable ? last.computed - before.computed : last.now - before.now
  }

  private var computed: Int {
    var time = timespec()
    guard clock_gettime(clock, &time) == 0 else { return 0 }
    return time.tv_sec &* 1_000_000_000 &+ time.tv_nsec
  }

  /// Whether it computes, or would if there were a processor for it.
  private var isRunnable: Bool {
    let descriptor = open(statePath, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    return withUnsafeTemporaryAllocation(byteCount: 512, alignment: 1) { bytes in
      let count = max(0, read(descriptor, bytes.baseAddress, bytes.count))
      // The thread's name, which may hold anything, stands in parentheses before its state.
      guard let end = bytes[..<count].lastIndex(of: UInt8(ascii: ")")), end + 2 < count else {
        return false
      }
      return bytes[end + 2] == UInt8(ascii: "R")
    }
  }
}

/// The time of day, which may be set while the program runs. Not for the audio thread, which keeps
/// time by `HostClock`.
package enum WallTime {
  /// Nanoseconds since 1970 (UTC), from 1970 to 2255 whatever year the clock is set to. Any thread.
  package static var nanoseconds: UInt64 { host_wall_nanoseconds() }
}
