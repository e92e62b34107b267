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
  private let descriptor: Int32

  /// Blocks the signals, where `hold` has not, and opens the way to read them.
  package init() {
    var set = Self.hold()
    descriptor = linux_open_signals(&set)
  }

  /// Blocks the signals: what comes from now on waits for a watch. Before the first file is made,
  /// so that no moment is left in which a signal would end the program beside a half-written one.
  @discardableResult
  package static func hold() -> sigset_t {
    signal(SIGPIPE, SIG_IGN)
    // A limit on the size of files shows as a failed write, which is told and loses nothing.
    signal(SIGXFSZ, SIG_IGN)
    var set = Self.set(of: ending + [SIGQUIT, SIGUSR1, SIGUSR2])
    pthread_sigmask(SIG_BLOCK, &set, nil)
    return set
  }

  /// Lets SIGINT, SIGTERM, SIGHUP and SIGQUIT end the program again, those that wait included.
  package static func release() {
    var set = Self.set(of: ending + [SIGQUIT])
    pthread_sigmask(SIG_UNBLOCK, &set, nil)
  }

  /// Keeps SIGUSR1 and SIGUSR2, which end programs that do not know them, for a watch that is made
  /// later. At the program's beginning.
  package static func holdUserSignals() {
    var set = Self.set(of: [SIGUSR1, SIGUSR2])
    pthread_sigmask(SIG_BLOCK, &set, nil)
  }

  /// Whether SIGINT, SIGTERM or SIGHUP has come and no watch has received it yet. Any thread.
  package static var isEndWaiting: Bool {
    var set = sigset_t()
    guard sigpending(&set) == 0 else { return false }
    return ending.contains { sigismember(&set, $0) == 1 }
  }

  /// Takes a SIGINT, SIGTERM or SIGHUP that has come and that no watch has received yet; false where there
  /// is none. Any thread.
  package static func takeEnd() -> Bool {
    var set = Self.set(of: ending)
    var now = timespec()
    return sigtimedwait(&set, nil, &now) > 0
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

  /// What `wait` woke up for.
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
    guard poll(&set, nfds_t(set.count), milliseconds) > 0 else { return .timeout }
    if set[0].revents & Int16(POLLIN) != 0 {
      switch linux_read_signal(descriptor) {
      case 0: return .timeout
      case SIGUSR1: return .signal(.split)
      case SIGUSR2: return .signal(.mark)
      default: return .signal(.end)
      }
    }
    return set[1].revents == 0 ? .timeout : .readable
  }
}
