import AudioSessions
import RealtimeAudio

/// Ends the program where an end is wanted and the thread that should come to it does not: it is in
/// a driver, a decoder or a computation. Where time is virtual that thread does everything itself.
///
/// Only what is being saved is waited for, however long a disk takes. A second request ends that as
/// well. Work that brings sound in may wait for a network or a pipe, and is told to end first.
final class StandstillWatch {
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
          // The thread receives no signal while it waits for a disk.
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
      for part in work where part.isDispensable { part.conclude() }
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

  /// Watches the calling thread, which also steps `work`, as long as it is in scope.
  init(_ request: EndRequest, _ work: [any BackgroundWork]) {
    guard let time = ThreadTime() else { return }
    // Without a thread a signal is noticed as soon as the call comes back.
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
