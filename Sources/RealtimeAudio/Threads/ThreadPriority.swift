import CRealtime
import Glibc

/// The scheduling priority of a thread.
public enum ThreadPriority: Sendable, Equatable {
  /// The normal priority of programs (SCHED_OTHER).
  case normal
  /// A priority above every normal thread: SCHED_FIFO with this priority, 1 to 99. Other numbers
  /// are limited to this range.
  case realtime(Int)

  /// Requests the priority for the calling thread. Tries the exact priority first, then the highest
  /// that this user's limit allows, then RealtimeKit. Returns a normal priority with a warning if
  /// all fail.
  func acquire() -> GrantedPriority {
    guard case .realtime(let number) = self else { return .normal }
    var granted = Self.acquire(max(1, min(number, 99)))
    if number > 99, granted.policy != .normal { granted.wantedNumber = number }
    // Protects against a driver that never returns: otherwise no other thread would get its
    // processor.
    if granted.policy != .normal { linux_guard_realtime(1_000_000) }
    return granted
  }

  private static func acquire(_ wanted: Int) -> GrantedPriority {
    if takeFIFO(wanted) { return GrantedPriority(policy: .fifo, number: wanted) }
    let allowed = min(linux_realtime_limit(), wanted)
    if allowed > 0, takeFIFO(allowed) { return .limited(to: allowed, wanted: wanted) }
    if let number = RealtimeKit.makeThisThreadRealtime(priority: wanted) {
      return GrantedPriority(policy: .roundRobin, number: number)
    }
    return .refused
  }

  /// Resets the calling thread to normal priority if the program was started with a realtime
  /// priority. For threads that were not created by this module, in particular the main thread.
  public static func makeThisThreadNormal() {
    linux_end_realtime_priority()
  }

  private static func takeFIFO(_ number: Int) -> Bool {
    var parameters = sched_param()
    parameters.sched_priority = Int32(number)
    return pthread_setschedparam(pthread_self(), SCHED_FIFO, &parameters) == 0
  }
}

/// The priority that a thread was granted.
public struct GrantedPriority: Sendable, Equatable {
  /// A scheduling policy of Linux.
  public enum Policy: Sendable {
    /// SCHED_OTHER, SCHED_FIFO and SCHED_RR.
    case normal, fifo, roundRobin
  }

  /// The scheduling policy.
  public var policy: Policy
  /// The priority within the policy; 0 if it is normal.
  public var number: Int
  /// One sentence for the user that explains what to do if less was granted than requested; nil
  /// otherwise.
  public var warning: String?

  /// The requested SCHED_FIFO priority if a lower one was granted; nil otherwise.
  public var wantedNumber: Int?

  /// Creates a description of a granted priority.
  public init(policy: Policy, number: Int, warning: String? = nil, wantedNumber: Int? = nil) {
    self.wantedNumber = wantedNumber
    self.policy = policy
    self.number = number
    self.warning = warning
  }

  /// The normal priority.
  public static let normal = GrantedPriority(policy: .normal, number: 0)

  static let refused = GrantedPriority(
    policy: .normal, number: 0,
    warning: "Realtime priority was refused, so dropouts are likelier: install rtkit, or put "
      + "\"@audio - rtprio 95\" into /etc/security/limits.d/audio.conf, add this user to the group "
      + "audio and log in again.")

  static func limited(to number: Int, wanted: Int) -> GrantedPriority {
    GrantedPriority(
      policy: .fifo, number: number,
      warning: "Realtime priority \(number) was granted instead of \(wanted): raise this user's "
        + "rtprio in /etc/security/limits.d, or ask for no more.",
      wantedNumber: wanted)
  }
}
