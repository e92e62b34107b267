import AudioDevices
import Glibc
import RealtimeAudio

extension Terminal {
  /// The maximum time in milliseconds for restoring the volumes, because a mixer's server may hang.
  private static var mixerMilliseconds: Int { 300 }

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
