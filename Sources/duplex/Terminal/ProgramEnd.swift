import AudioDevices
import Glibc
import ProgramRuntime
import RealtimeAudio

extension Terminal {
  /// The maximum time in milliseconds for restoring the volumes, because a mixer's server may hang.
  private static var mixerMilliseconds: Int { 300 }

  /// Makes signals end the program with `status` until a session handles them. `summary` is the
  /// event for scripts after the error, if there is something to report.
  static func endOnSignals(with status: ExitStatus, summary: Event? = nil) {
    let failure = ToolFailure.stopped(status, "before it came to an end")
    ProgramSignals.endProgram(
      status: status.rawValue,
      sentence: status == .done ? "" : "duplex: \(failure.message) \(failure.hint)\n",
      events: OutputMode.current.json
        ? [failure.event, summary].compactMap { $0.map { $0.json.text + "\n" } }.joined() : "")
  }

  /// Ends the program without the exit handlers of libraries, because a device or a disk does not
  /// respond. The terminal and the volumes of the card are restored, and pending output is written.
  static func leaveAtOnce(_ status: ExitStatus) -> Never {
    stopWaiting()
    Keyboard.restoreTerminal()
    let isOver = AtomicFlag()
    let thread = try? RealtimeThread(
      name: "duplex-mixer", priority: .normal, stackByteCount: 524_288,
      VolumeRestoration(isOver: isOver))
    if let thread {
      thread.abandon()
      for _ in 0..<mixerMilliseconds where !isOver.isRaised { HostClock.pause(milliseconds: 1) }
    }
    drain()
    _exit(status.rawValue)
  }

  /// Reports `failure` and ends the program. If its status is `.done`, only scripts receive it.
  static func leaveAtOnce(_ failure: ToolFailure) -> Never {
    stopWaiting()
    if failure.status != .done {
      failure.report()
    } else if OutputMode.current.json {
      emit(failure.event)
    }
    leaveAtOnce(failure.status)
  }

  /// Restores the volumes, which may block.
  private struct VolumeRestoration: RealtimeWork, ~Copyable {
    let isOver: AtomicFlag

    mutating func run() {
      VolumeChange.restoreAll()
      isOver.raise()
    }
  }
}
