import CRealtime
import Glibc

/// Scheduling priority of a thread.
public enum ThreadPriority: Sendable, Equatable {
  /// As any program.
  case normal
  /// Before every normal thread: SCHED_FIFO of this priority, 1 to 99; what is below or above is
  /// taken as that.
  case realtime(Int)

  /// Asks for it on the calling thread: as it is, as high as this user's limit lets, through
  /// RealtimeKit, and at last not at all.
  func acquire() -> GrantedPriority {
    guard case .realtime(let number) = self else { return .normal }
    var granted = Self.acquire(max(1, min(number, 99)))
    if number > 99, granted.policy != .normal { granted.wantedNumber = number }
    // The last resort against a driver that never returns: no other thread would get its processor.
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

  /// Brings the calling thread back to normal, where the program was started at a realtime
  /// priority. For threads that were not made here, the first one above all.
  public static func makeThisThreadNormal() {
    let deadline: Int32 = 6
    guard [SCHED_FIFO, SCHED_RR, deadline].contains(sched_getscheduler(0)) else { return }
    var parameters = sched_param()
    sched_setscheduler(0, SCHED_OTHER, &parameters)
  }

  private static func takeFIFO(_ number: Int) -> Bool {
    var parameters = sched_param()
    parameters.sched_priority = Int32(number)
    return pthread_setschedparam(pthread_self(), SCHED_FIFO, &parameters) == 0
  }
}

/// The priority a thread was given.
public struct GrantedPriority: Sendable, Equatable {
  /// A scheduling policy of Linux.
  public enum Policy: Sendable {
    /// SCHED_OTHER, SCHED_FIFO and SCHED_RR.
    case normal, fifo, roundRobin
  }

  /// The policy.
  public var policy: Policy
  /// The priority within it, 0 where it is normal.
  public var number: Int
  /// One sentence for the user that says what to do, where less was given than asked.
  public var warning: String?

  /// The SCHED_FIFO priority that was asked for, where a lower one was given; nil else.
  public var wantedNumber: Int?

  /// A priority as a thread may be given it.
  public init(policy: Policy, number: Int, warning: String? = nil, wantedNumber: Int? = nil) {
    self.wantedNumber = wantedNumber
    self.policy = policy
    self.number = number
    self.warning = warning
  }

  /// No priority.
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
