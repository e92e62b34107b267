import AudioFiles
import AudioSessions
import Glibc
import RealtimeAudio

/// Waits for a network on behalf of a person, who may have enough of it: signals and `q` end the
/// program there and then, since nothing has sounded yet that would have to be brought to an end.
enum AttendedOpening {
  /// Seconds after which a person is told what is waited for.
  private static let silence = 1.5

  /// What `open` answers with, or throws. It runs on a thread of its own. `name` is what is opened.
  static func result<Value>(
    of name: String,
    _ open: @escaping @Sendable (Opening) throws(FileFailure) -> Value
  ) throws(FileFailure) -> Value {
    // Before the thread, so that signals come here.
    SignalWatch.hold()
    let answer = Answer<Value>()
    let thread = try start { answer.give(Result { () throws(FileFailure) in try open(Opening()) }) }
    wait(for: name) { answer.isThere }
    _ = thread.join()
    guard let result = answer.take() else {
      throw FileFailure(.cannotOpen, "\(name) was not opened.", hint: "Try again.")
    }
    return try result.get()
  }

  /// Waits until `isOver`, or ends the program where a person wants that. `name` is what is waited
  /// for.
  static func wait(
    for name: String, leavingWith status: ExitStatus = .done, until isOver: () -> Bool
  ) {
    let signals = SignalWatch()
    let keyboard = Keyboard()
    let began = HostClock.nanoseconds
    var isTold = !(Terminal.isWatched || OutputMode.current.json)
    while !isOver() {
      switch signals.wait(milliseconds: 5, watching: keyboard.descriptor) {
      case .signal(.end): leave(keyboard, status, name)
      case .readable:
        if case .key(.character("q")) = keyboard.press() {
          leave(keyboard, status, name)
        }
      default: break
      }
      if !isTold, HostClock.nanoseconds - began > UInt64(clamping: silence * 1e9) {
        isTold = true
        Notice.news("waiting", "waiting for \(name)").report()
      }
    }
  }

  /// At once: the search for a server's name may not be hurried, nor a driver that hangs.
  private static func leave(
    _ keyboard: borrowing Keyboard, _ status: ExitStatus, _ name: String
  ) {
    keyboard.restore()
    if OutputMode.current.json {
      Terminal.tell(
        ToolFailure(
          status, code: "stopped", "It was stopped while it waited for \(name).",
          hint: "Nothing had begun, and nothing is lost."
        ).event)
    }
    Terminal.drain()
    _exit(status.rawValue)
  }

  private static func start(
    _ work: @escaping @Sendable () -> Void
  ) throws(FileFailure) -> RealtimeThread<Work> {
    do throws(ThreadFailure) {
      return try RealtimeThread(
        name: "duplex-open", priority: .normal, stackByteCount: 524_288, Work(body: work))
    } catch {
      throw FileFailure(.cannotOpen, error.message, hint: "End other programs, then try again.")
    }
  }

  private struct Work: RealtimeWork, Sendable {
    let body: @Sendable () -> Void
    mutating func run() { body() }
  }

  /// Carries a result from one thread to the other.
  private final class Answer<Value>: Sendable {
    private struct Given: @unchecked Sendable {
      // @unchecked because whoever gives it keeps nothing of it.
      let result: Result<Value, FileFailure>
    }

    private let given = Guarded<Given?>(nil)

    func give(_ result: Result<Value, FileFailure>) {
      let new = Given(result: result)
      given.withLock { $0 = new }
    }

    var isThere: Bool { given.withLock { $0 != nil } }

    func take() -> Result<Value, FileFailure>? { given.withLock { $0.take() }?.result }
  }
}
