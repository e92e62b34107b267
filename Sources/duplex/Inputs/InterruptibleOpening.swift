import AudioFiles
import AudioSessions
import Glibc
import ProgramRuntime
import RealtimeAudio

/// Opens sources that may take long, such as network addresses. Signals and `q` end the program
/// immediately during the wait: nothing is playing that would have to be faded out.
enum InterruptibleOpening {
  /// The seconds of waiting after which a message is printed, for a person and for a log.
  private static let silence = (atTerminal: 1.5, inLog: 15.0)
  /// The seconds spent waiting for one source after another since the last message.
  private static let unreportedSeconds = MutexBox(0.0)

  /// Returns the result of `open`, or throws its error. `open` runs on a separate thread, and is
  /// cancelled after `limit` seconds. `name` is the name of the source. `isNear` marks a local
  /// file: only a pipe of another program is waited for, and a message about it is printed as early
  /// in a log as at a terminal. `status` is the exit status if the user ends the program; `failure`
  /// is thrown if no thread can be started.
  static func result<Value: ~Copyable, Failure>(
    of name: @autoclosure () -> String, isNear: Bool = false, within limit: Double = .infinity,
    leavingWith status: ExitStatus = .done, orThrowing failure: (_ message: String) -> Failure,
    _ open: @escaping @Sendable (CancellableOpening) throws(Failure) -> Value
  ) throws(Failure) -> Value {
    // Signals are blocked before the thread starts, so that they arrive on this thread.
    SignalWatch.hold()
    let opening = CancellableOpening()
    let isOver = AtomicFlag()
    let thread: RealtimeThread<Work<Value, Failure>>
    do throws(ThreadFailure) {
      thread = try RealtimeThread(
        name: "duplex-open", priority: .normal, stackByteCount: 524_288,
        Work(isOver: isOver) { () throws(Failure) in try open(opening) })
    } catch {
      throw failure(error.message)
    }
    // Most sources open within milliseconds, and need no keyboard.
    for _ in 0..<100 where !isOver.isRaised { HostClock.pause(milliseconds: 1) }
    let began = SteadyTime()
    if !isOver.isRaised {
      wait(for: name, isNear: isNear, leavingWith: status) {
        if began.seconds > limit { opening.cancel() }
        return isOver.isRaised
      }
    }
    guard let result = thread.join().takeResult() else { throw failure("Nothing was opened.") }
    return try result.get()
  }

  /// Waits until `isOver` returns true, or ends the program on request of the user. `name` is the
  /// source that is waited for.
  private static func wait(
    for name: () -> String, isNear: Bool, leavingWith status: ExitStatus, until isOver: () -> Bool
  ) {
    let signals = SignalWatch()
    let keyboard = Keyboard()
    let began = SteadyTime()
    let unreported = unreportedSeconds.withLock { $0 }
    let isWatched = isNear || Terminal.isWatched || OutputMode.current.json
    let silence = isWatched ? silence.atTerminal : silence.inLog
    var isReported = false
    while !isOver() {
      switch signals.wait(milliseconds: 5, watching: keyboard.awaited) {
      case .signal(.end): leave(status, name())
      case .readable:
        if keyboard.press().ends { leave(status, name()) }
      default: break
      }
      if !isReported, unreported + began.seconds > silence {
        isReported = true
        inform("waiting", "waiting for \(name())")
      }
    }
    unreportedSeconds.withLock { $0 = isReported ? 0 : unreported + began.seconds }
  }

  /// Ends the program immediately: a host name lookup or a hanging driver cannot be interrupted.
  private static func leave(_ status: ExitStatus, _ name: String) {
    Terminal.leaveAtOnce(.stopped(status, "while it waited for \(name)"))
  }

  private struct Work<Value: ~Copyable, Failure: Error>: RealtimeWork, ~Copyable,
    @unchecked Sendable
  {
    // @unchecked because one thread at a time owns it, and passes it to the other.
    private let isOver: AtomicFlag
    private let body: @Sendable () throws(Failure) -> Value
    private var result: Result<Value, Failure>?

    init(isOver: AtomicFlag, body: @escaping @Sendable () throws(Failure) -> Value) {
      self.isOver = isOver
      self.body = body
    }

    mutating func run() {
      do throws(Failure) {
        result = .success(try body())
      } catch {
        result = .failure(error)
      }
      isOver.raise()
    }

    consuming func takeResult() -> Result<Value, Failure>? { result.take() }
  }
}
