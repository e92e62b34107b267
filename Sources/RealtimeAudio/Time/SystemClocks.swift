import CRealtime
import Glibc

/// Measures the time that a thread computed or slept. The time that it waited for a processor is
/// not counted, so a busy machine does not make the thread appear late.
package struct ThreadTime: Sendable {
  private let clock: clockid_t
  private let statePath: String
  private var last = (now: 0, computed: 0)

  /// Creates a measurement of the calling thread; nil if the system does not provide its CPU clock.
  package init?() {
    var clock = clockid_t()
    guard pthread_getcpuclockid(pthread_self(), &clock) == 0 else { return nil }
    self.clock = clock
    statePath = "/proc/self/task/\(linux_thread_number())/stat"
  }

  /// Starts the measurement. Any thread, one at a time.
  package mutating func start() {
    last = (Int(clamping: HostClock.nanoseconds), computed)
  }

  /// Returns the nanoseconds since the last call of `start` or `passed`.
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

  /// Whether the thread is running or ready to run.
  private var isRunnable: Bool {
    let descriptor = open(statePath, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    return withUnsafeTemporaryAllocation(byteCount: 512, alignment: 1) { bytes in
      let count = max(0, read(descriptor, bytes.baseAddress, bytes.count))
      // The state follows the thread's name, which is in parentheses and may contain any character.
      guard let end = bytes[..<count].lastIndex(of: UInt8(ascii: ")")), end + 2 < count else {
        return false
      }
      return bytes[end + 2] == UInt8(ascii: "R")
    }
  }
}

/// The time of day, which may be set while the program runs. Not for the audio thread, which uses
/// `HostClock`.
package enum WallTime {
  /// The nanoseconds since 1970 (UTC), limited to the years 1970 to 2255 for any setting of the
  /// clock. Any thread.
  package static var nanoseconds: UInt64 { host_wall_nanoseconds() }
}
