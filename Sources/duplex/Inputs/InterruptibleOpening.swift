import AudioFiles
import AudioSessions
import Glibc
import RealtimeAudio

/// Opens sources that may take long, such as network addresses. Signals and `q` end the program at
/// once meanwhile: nothing has been played that would have to be faded out.
enum InterruptibleOpening {
  /// Seconds after which a person is told what is waited for, or a log.
  private static let silence = (atTerminal: 1.5, inLog: 15.0)
  /// Seconds that were waited, for one after the other, since anything of it was told.
  private static let untoldSeconds = MutexBox(0.0)

  /// What `open` answers with, or throws. It runs on a thread of its own, and is cancelled after
  /// `limit` seconds. `name` is what is opened; a local file (`isNear`) is waited for only where it
  /// is a pipe of another program, which is told to a log as well. `status` is how the program ends
  /// where the user ends it; `failure` is thrown where there is no thread.
  static func result<Value: ~Copyable, Failure>(
    of name: @autoclosure () -> String, isNear: Bool = false, within limit: Double = .infinity,
    leavingWith status: ExitStatus = .done, orThrowing failure: (_ message: String) -> Failure,
    _ open: @escaping @Sendable (CancellableOpening) throws(Failure) -> Value
  ) throws(Failure) -> Value {
    // Before the thread, so that signals come here.
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
    // Most are open in a moment, and need no keyboard.
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

  /// Waits until `isOver`, or ends the program where a person wants that. `name` is what is waited
  /// for.
  private static func wait(
    for name: () -> String, isNear: Bool, leavingWith status: ExitStatus, until isOver: () -> Bool
  ) {
    let signals = SignalWatch()
    let keyboard = Keyboard()
    let began = SteadyTime()
    let untold = untoldSeconds.withLock { $0 }
    let isWatched = isNear || Terminal.isWatched || OutputMode.current.json
    let silence = isWatched ? silence.atTerminal : silence.inLog
    var isTold = false
    while !isOver() {
      switch signals.wait(milliseconds: 5, watching: keyboard.awaited) {
      case .signal(.end): leave(status, name())
      case .readable:
        if keyboard.press().ends { leave(status, name()) }
      default: break
      }
      if !isTold, untold + began.seconds > silence {
        isTold = true
        inform("waiting", "waiting for \(name())")
      }
    }
    untoldSeconds.withLock { $0 = isTold ? 0 : untold + began.seconds }
  }

  /// At once: the search for a server's name may not be hurried, nor a driver that hangs.
  private static func leave(_ status: ExitStatus, _ name: String) {
    Terminal.leaveAtOnce(.stopped(status, "while it waited for \(name)"))
  }

  private struct Work<Value: ~Copyable, Failure: Error>: RealtimeWork, ~Copyable,
    @unchecked Sendable
  {
    // @unchecked because it moves whole, from one thread to the other and back.
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
