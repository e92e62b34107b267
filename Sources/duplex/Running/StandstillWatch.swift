import Glibc
import RealtimeAudio
import Synchronization

/// Ends the program where somebody wants an end and the thread that should hear it does not come back
/// from a call of a driver or a disk. Where time is virtual that thread does everything itself.
final class StandstillWatch {
  /// How often the thread was there to hear, and whether it has heard that somebody wants an end.
  private final class Attendance: Sendable {
    let count = Atomic<Int>(0)
    let isEnding = AtomicFlag()
  }

  private struct Loop: RealtimeWork, ~Copyable, Sendable {
    let attendance: Attendance
    let clock: clockid_t
    let isOver: AtomicFlag

    /// Looks every 10 ms. On a machine that is busy with other things these are late as well.
    mutating func run() {
      var last = (count: -1, processor: 0)
      var idleLooks = 0
      var deafLooks = 0
      while !isOver.isRaised {
        HostClock.pause(milliseconds: 10)
        let now = (count: attendance.count.load(ordering: .relaxed), processor: processorTime)
        let isEndWanted = attendance.isEnding.isRaised || SignalWatch.isEndWaiting
        let isDeaf = isEndWanted && now.count == last.count
        deafLooks = isDeaf ? deafLooks + 1 : 0
        idleLooks = isDeaf && now.processor == last.processor ? idleLooks + 1 : 0
        last = now
        // A fifth of a second where nothing moves, three where it computes.
        if idleLooks >= 20 || deafLooks >= 300 { leave() }
      }
    }

    /// Nanoseconds that the thread has computed.
    private var processorTime: Int {
      var time = timespec()
      guard unsafe clock_gettime(clock, &time) == 0 else { return 0 }
      return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }

    private func leave() {
      ToolFailure(
        .loss, code: "stuck",
        "It was stopped while a call of the device or the disk did not come back.",
        hint: "Files hold what their headers tell of; look at the device and the disk."
      ).report()
      Terminal.drain()
      _exit(ExitStatus.loss.rawValue)
    }
  }

  private let attendance = Attendance()
  private let isOver = AtomicFlag()
  private var thread: RealtimeThread<Loop>?

  /// Watches the calling thread, as long as it is in scope.
  init() {
    var clock = clockid_t()
    guard unsafe pthread_getcpuclockid(pthread_self(), &clock) == 0 else { return }
    // Without a thread a signal is heard as soon as the call comes back.
    thread = try? RealtimeThread(
      name: "duplex-stop", priority: .normal, stackByteCount: 262_144,
      Loop(attendance: attendance, clock: clock, isOver: isOver))
  }

  /// The thread is there to hear.
  func poll() { attendance.count.add(1, ordering: .relaxed) }

  /// Somebody wants an end.
  func hearEnd() { attendance.isEnding.raise() }

  deinit {
    isOver.raise()
    guard let thread = thread.take() else { return }
    _ = thread.join()
  }
}
