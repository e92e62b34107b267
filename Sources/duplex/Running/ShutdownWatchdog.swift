import AudioSessions
import ProgramRuntime
import RealtimeAudio

/// Ends the program if an end is requested and the thread of the session does not reach it, because
/// it is blocked in a driver, a decoder or a computation. In virtual time this thread does all the
/// work.
///
/// Only data that is being saved is waited for, as long as the disk takes. A second request ends
/// this wait as well. Work that delivers audio may wait for a network or a pipe, and is ended
/// first.
final class ShutdownWatchdog {
  private struct Loop: RealtimeWork, ~Copyable, Sendable {
    let request: EndRequest
    var time: ThreadTime
    let work: [any BackgroundWork]
    let isOver: AtomicFlag
    /// The nanoseconds that the thread ran or slept since the end was requested, while
    /// nothing was being saved. The time that it waited for a processor does not count.
    private var lateness = 0

    init(request: EndRequest, time: ThreadTime, work: [any BackgroundWork], isOver: AtomicFlag) {
      self.request = request
      self.time = time
      self.work = work
      self.isOver = isOver
    }

    /// Checks the state every 10 ms.
    mutating func run() {
      var isWanted = false
      while !isOver.isRaised {
        HostClock.pause(milliseconds: 10)
        let wasWanted = isWanted
        isWanted = request.age != nil || SignalWatch.isEndWaiting
        if work.contains(where: \.workState.isSaving) {
          // The thread of the session receives no signals while it waits for a disk.
          if SignalWatch.takeEnd(), request.note() { request.leave() }
          request.checkDisk()
          lateness = 0
          time.start()
        } else if isWanted, wasWanted {
          lateness += time.passed()
          if lateness >= 50_000_000 { concludeSources() }
          if lateness >= 150_000_000 { leave() }
        } else {
          time.start()
        }
      }
    }

    private func concludeSources() {
      for part in work where part.workState == .dispensable { part.conclude() }
    }

    private func leave() {
      Terminal.leaveAtOnce(
        ToolFailure(
          .loss, code: "stuck",
          "The program was stopped while the device or the disk did not answer.",
          hint: "Files have what was saved until then; check the device and the disk."))
    }
  }

  private let isOver = AtomicFlag()
  private var thread: RealtimeThread<Loop>?

  /// Watches the calling thread, which also executes `work`, until this object is destroyed.
  init(_ request: EndRequest, _ work: [any BackgroundWork]) {
    guard let time = ThreadTime() else { return }
    // Without this thread, a signal is noticed only when the blocking call returns.
    thread = try? RealtimeThread(
      name: "duplex-stop", priority: .normal, stackByteCount: 262_144,
      Loop(request: request, time: time, work: work, isOver: isOver))
  }

  deinit {
    isOver.raise()
    guard let thread = thread.take() else { return }
    _ = thread.join()
  }
}
