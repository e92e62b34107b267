import AudioSessions
import Glibc
import RealtimeAudio
import Synchronization

/// Ends the program where an end is wanted and the thread that should come to it does not: it is
/// in a driver, a decoder or a computation. Where time is virtual that thread does everything itself.
///
/// Only what is being saved is waited for, however long a disk takes. A second request ends that as well.
final class StandstillWatch {
  /// Since when an end is wanted, on the host's clock; 0 before.
  private final class EndRequest: Sendable {
    private let since = Atomic<UInt64>(0)

    /// Nanoseconds since an end was asked for; nil where none was.
    var age: UInt64? {
      let since = since.load(ordering: .relaxed)
      return since == 0 ? nil : HostClock.nanoseconds &- since
    }

    func note() {
      _ = since.compareExchange(
        expected: 0, desired: max(1, HostClock.nanoseconds), ordering: .relaxed)
    }
  }

  private struct Loop: RealtimeWork, ~Copyable, Sendable {
    let request: EndRequest
    var time: ThreadTime
    let work: [any BackgroundWork]
    let isOver: AtomicFlag
    /// Nanoseconds in which the thread could have come to an end.
    private var lateness = 0

    init(request: EndRequest, time: ThreadTime, work: [any BackgroundWork], isOver: AtomicFlag) {
      self.request = request
      self.time = time
      self.work = work
      self.isOver = isOver
    }

    /// Looks every 10 ms.
    mutating func run() {
      var isWanted = false
      while !isOver.isRaised {
        HostClock.pause(milliseconds: 10)
        let wasWanted = isWanted
        isWanted = request.age != nil || SignalWatch.isEndWaiting
        if work.contains(where: \.isSaving) {
          waitWhileSaving()
          lateness = 0
          time.start()
        } else if isWanted, wasWanted {
          lateness += time.passed()
          if lateness >= 150_000_000 { leave() }
        } else {
          time.start()
        }
      }
    }

    /// The thread receives no signal while it waits for a disk.
    private func waitWhileSaving() {
      if SignalWatch.takeEnd() {
        // One signal may come twice. A later one ends at once, with what files hold since their headers
        // were last written.
        if let age = request.age, age > 300_000_000 { Terminal.leaveAtOnce(.done) }
        request.note()
      }
      if let age = request.age, age > 250_000_000, !work.contains(where: \.isWaitingForOthers) {
        DiskNotice.emit()
      }
    }

    private func leave() {
      ToolFailure(
        .loss, code: "stuck",
        "The program was stopped while the device or the disk did not answer.",
        hint: "Files hold what was saved until then; check the device and the disk."
      ).report()
      Terminal.leaveAtOnce(.loss)
    }
  }

  private let request = EndRequest()
  private let isOver = AtomicFlag()
  private var thread: RealtimeThread<Loop>?

  /// Watches the calling thread, which also steps `work`, as long as it is in scope.
  init(_ work: [any BackgroundWork]) {
    guard let time = ThreadTime() else { return }
    // Without a thread a signal is noticed as soon as the call comes back.
    thread = try? RealtimeThread(
      name: "duplex-stop", priority: .normal, stackByteCount: 262_144,
      Loop(request: request, time: time, work: work, isOver: isOver))
  }

  /// Whether an end is wanted, as far as is known here.
  var isEndWanted: Bool { request.age != nil }

  /// An end is wanted.
  func noteEnd() { request.note() }

  deinit {
    isOver.raise()
    guard let thread = thread.take() else { return }
    _ = thread.join()
  }
}

/// Whether the user wants long work on files, without sound, to end: SIGINT, SIGTERM or SIGHUP. While
/// there is one, these end nothing by themselves.
final class StopRequest {
  private let signals = SignalWatch()
  private let start = HostClock.nanoseconds
  private let grace: UInt64

  /// What comes in the first `graceMilliseconds` is the signal that ended the sound before, once more:
  /// `timeout` and terminals may send one twice.
  init(graceMilliseconds: UInt64 = 300) {
    grace = graceMilliseconds * 1_000_000
  }

  /// Asks.
  func isThere() -> Bool {
    signals.wait(milliseconds: 0) == .signal(.end) && HostClock.nanoseconds >= start + grace
  }

  deinit {
    SignalWatch.release()
  }
}
