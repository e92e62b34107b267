import CRealtime
import Glibc

/// The signals that ask the program for something, named for what they ask a recording.
package enum UserSignal: Sendable, Equatable {
  /// SIGINT, SIGTERM or SIGHUP: finalise and end.
  case end
  /// SIGUSR1: start the next file.
  case split
  /// SIGUSR2: set a marker.
  case mark
}

/// Receives signals where it is convenient, instead of in the middle of anything.
///
/// Make it before the first thread: threads inherit that the signals are blocked. A closed pipe
/// (SIGPIPE) is ignored from then on, so that it never stops a recording.
package struct SignalWatch: ~Copyable {
  private static let ending = [SIGINT, SIGTERM, SIGHUP]
  private static let all = ending + [SIGQUIT, SIGUSR1, SIGUSR2]
  /// Becomes readable when a signal comes; below 0 where there was no descriptor left.
  private let descriptor: Int32

  /// Blocks the signals, where `hold` has not, and opens the way to wait for them.
  package init() {
    var set = Self.hold()
    descriptor = linux_open_signals(&set)
  }

  /// Blocks the signals, as where the system has no descriptor left to wait for them with.
  init(withoutDescriptor: Void) {
    Self.hold()
    descriptor = -1
  }

  /// Blocks the signals: what comes from now on waits for a watch. Before the first file is made,
  /// so that no moment is left in which a signal would end the program beside a half-written one.
  @discardableResult
  package static func hold() -> sigset_t {
    signal(SIGPIPE, SIG_IGN)
    var set = Self.set(of: all)
    pthread_sigmask(SIG_BLOCK, &set, nil)
    return set
  }

  /// Lets SIGINT, SIGTERM, SIGHUP and SIGQUIT end the program again, those that wait included.
  package static func release() {
    var set = Self.set(of: ending + [SIGQUIT])
    pthread_sigmask(SIG_UNBLOCK, &set, nil)
  }

  /// Keeps SIGUSR1 and SIGUSR2, which end programs that do not know them, for a watch that is made
  /// later. A limit on the size of files shows as a failed write from then on, which is told and
  /// loses nothing, and no longer as a signal (SIGXFSZ). How programs ended that this one started
  /// is known, also where a parent ignores SIGCHLD. At the program's beginning.
  package static func prepareProgram() {
    signal(SIGXFSZ, SIG_IGN)
    signal(SIGCHLD, SIG_DFL)
    var set = Self.set(of: [SIGUSR1, SIGUSR2])
    pthread_sigmask(SIG_BLOCK, &set, nil)
  }

  /// Whether SIGINT, SIGTERM or SIGHUP has come and no watch has received it yet. Any thread.
  package static var isEndWaiting: Bool {
    var set = sigset_t()
    guard sigpending(&set) == 0 else { return false }
    return ending.contains { sigismember(&set, $0) == 1 }
  }

  /// Takes a SIGINT, SIGTERM or SIGHUP that has come and that no watch has received yet; false
  /// where there is none. Any thread.
  package static func takeEnd() -> Bool { take(ending) != nil }

  /// Takes one of `signals` that has come; nil where there is none.
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

  /// Event that ended a `wait`.
  package enum Cause: Sendable, Equatable {
    /// The time was over.
    case timeout
    /// A signal came.
    case signal(UserSignal)
    /// The watched descriptor has something to read.
    case readable
  }

  /// Sleeps for `milliseconds` at most, or until a signal comes or `other` can be read.
  package func wait(milliseconds: Int32, watching other: Int32? = nil) -> Cause {
    var set = [
      pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
      pollfd(fd: other ?? -1, events: Int16(POLLIN), revents: 0),
    ]
    var left = milliseconds
    while true {
      // Without a descriptor signals are looked for every 10 ms.
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
