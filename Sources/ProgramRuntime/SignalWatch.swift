import CProgram
import Glibc

/// Receives signals at a defined point of the program, instead of in an asynchronous handler.
///
/// Create it before the first thread, because threads inherit the blocked signals. From then on a
/// closed pipe (SIGPIPE) is ignored, so that it never stops a recording.
package struct SignalWatch: ~Copyable {
  private static let ending = [SIGINT, SIGTERM, SIGHUP]
  private static let all = ending + [SIGQUIT, SIGUSR1, SIGUSR2]
  /// A descriptor that becomes readable when a signal arrives; -1 if no descriptor was available.
  private let descriptor: Int32

  /// Blocks the signals, unless `hold` has already done so, and opens the descriptor to wait for
  /// them.
  package init() {
    var set = Self.hold()
    descriptor = cprogram_open_signals(&set)
  }

  /// Creates a watch as if the system had no descriptor available, for tests.
  init(withoutDescriptor: Void) {
    Self.hold()
    descriptor = -1
  }

  /// Blocks the signals: those that arrive from now on stay pending until a watch receives them.
  /// SIGHUP stays ignored if the program was started that way, as by `nohup`, so that a recording
  /// outlasts its terminal.
  /// Call it before the first file is created; otherwise a signal could end the program and leave
  /// an incomplete file.
  @discardableResult
  package static func hold() -> sigset_t {
    signal(SIGPIPE, SIG_IGN)
    // A blocked signal would be received even if it is ignored.
    var set = Self.set(of: all.filter { $0 != SIGHUP || !cprogram_is_ignored(SIGHUP) })
    pthread_sigmask(SIG_BLOCK, &set, nil)
    return set
  }

  /// Unblocks SIGINT, SIGTERM, SIGHUP and SIGQUIT, so that they end the program again, including
  /// pending ones.
  package static func release() {
    var set = Self.set(of: ending + [SIGQUIT])
    pthread_sigmask(SIG_UNBLOCK, &set, nil)
  }

  /// Blocks SIGUSR1 and SIGUSR2, whose default action ends the program, until a watch is created
  /// later. Ignores SIGXFSZ, so that a limit on the size of files causes a failed write, which is
  /// reported and loses nothing, and not a signal. Resets SIGCHLD, so that the exit status of child
  /// processes is available even if the parent ignored it. Call it at the start of the program.
  package static func prepareProgram() {
    signal(SIGXFSZ, SIG_IGN)
    signal(SIGCHLD, SIG_DFL)
    var set = Self.set(of: [SIGUSR1, SIGUSR2])
    pthread_sigmask(SIG_BLOCK, &set, nil)
  }

  /// Whether SIGINT, SIGTERM or SIGHUP is pending. Any thread.
  package static var isEndWaiting: Bool {
    var set = sigset_t()
    guard sigpending(&set) == 0 else { return false }
    return ending.contains { sigismember(&set, $0) == 1 }
  }

  /// Receives a pending SIGINT, SIGTERM or SIGHUP; returns false if there is none. Any thread.
  package static func takeEnd() -> Bool { take(ending) != nil }

  /// Receives one pending signal of `signals`; returns nil if there is none.
  private static func take(_ signals: [Int32]) -> Int32? {
    var set = Self.set(of: signals)
    var now = timespec()
    let number = sigtimedwait(&set, nil, &now)
    return number > 0 ? number : nil
  }

  private static func set(of signals: [Int32]) -> sigset_t {
    var set = sigset_t()
    sigemptyset(&set)
    for number in signals { sigaddset(&set, number) }
    return set
  }

  deinit {
    close(descriptor)
  }

  /// The event that ended a `wait`.
  package enum Cause: Sendable, Equatable {
    /// The timeout expired.
    case timeout
    /// A signal arrived.
    case signal(UserSignal)
    /// The watched descriptor is readable.
    case readable
  }

  /// Sleeps for at most `milliseconds`, or until a signal arrives or `other` becomes readable.
  /// Returns the cause.
  package func wait(milliseconds: Int32, watching other: Int32? = nil) -> Cause {
    var set = [
      pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
      pollfd(fd: other ?? -1, events: Int16(POLLIN), revents: 0),
    ]
    var left = milliseconds
    while true {
      // Without a descriptor, signals are polled every 10 ms.
      let step = descriptor < 0 ? min(left, 10) : left
      let isWoken = poll(&set, nfds_t(set.count), step) > 0
      if descriptor < 0 || isWoken {
        switch Self.take(Self.all) {
        case nil: break
        case SIGUSR1: return .signal(.split)
        case SIGUSR2: return .signal(.mark)
        default: return .signal(.end)
        }
      }
      if isWoken, set[1].revents != 0 { return .readable }
      left -= step
      guard descriptor < 0, left > 0 else { return .timeout }
    }
  }
}
