import Glibc
import LinuxSystem
import RealtimeAudio

/// Measures the time that a thread computed or slept. The time that it waited for a processor is
/// not counted, so a busy machine does not make the thread appear late.
package struct ThreadTime: Sendable {
  private let clock: clockid_t
  /// The kernel's file about the thread; nil if `/proc` is not there.
  private let statusPath: String?
  private var last = (now: 0, computed: 0)

  /// Creates a measurement of the calling thread; nil if the system does not provide its CPU clock.
  package init?() {
    var clock = clockid_t()
    guard pthread_getcpuclockid(pthread_self(), &clock) == 0 else { return nil }
    self.clock = clock
    statusPath = SystemFiles.ofThisMachine.resolved("/proc/thread-self").map { $0 + "/status" }
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
    statusPath.flatMap { SystemFiles.ofThisMachine.value(of: "State", in: $0) }?.first == "R"
  }
}
