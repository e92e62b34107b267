import AudioDevices
import Glibc
import RealtimeAudio

extension Terminal {
  /// Milliseconds for which a mixer may take to put volumes back: its server may stand still.
  private static var mixerMilliseconds: Int { 300 }

  /// Ends the program without what libraries do at an exit, where a device or a disk does not
  /// answer: the terminal and the card's volumes are put back, and what was printed may be read.
  static func leaveAtOnce(_ status: ExitStatus) -> Never {
    Keyboard.giveBack()
    let isOver = AtomicFlag()
    let thread = try? RealtimeThread(
      name: "duplex-mixer", priority: .normal, stackByteCount: 524_288, Restoring(isOver: isOver))
    if let thread {
      thread.abandon()
      for _ in 0..<mixerMilliseconds where !isOver.isRaised { HostClock.pause(milliseconds: 1) }
    }
    drain()
    _exit(status.rawValue)
  }

  /// The same with `failure` told; where it ends well, to scripts only.
  static func leaveAtOnce(_ failure: ToolFailure) -> Never {
    if failure.status != .done {
      failure.report()
    } else if OutputMode.current.json {
      emit(failure.event)
    }
    leaveAtOnce(failure.status)
  }

  /// Puts the volumes back, however long it takes.
  private struct Restoring: RealtimeWork, ~Copyable {
    let isOver: AtomicFlag

    mutating func run() {
      VolumeChange.restoreAll()
      isOver.raise()
    }
  }
}
