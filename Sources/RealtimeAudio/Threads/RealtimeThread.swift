import CRealtime
import Glibc

/// The work of a thread. The thread owns it while it runs, and `join` returns it.
public protocol RealtimeWork: ~Copyable {
  /// Performs the work. Called once, on the thread.
  mutating func run()
}

/// An error thrown if a thread could not be created.
public struct ThreadFailure: ExplainedFailure, Sendable {
  /// One sentence that explains the cause.
  public let message: String
  /// One sentence that explains what to do.
  public var hint: String { "End other programs, or raise this user's limits (ulimit -a)." }
}

/// A thread that owns move-only work: the work is moved in at the start, and `join` returns it.
///
/// With priority `.normal` it is a plain thread, for disk or network work. If the value is
/// destroyed without `join`, its `deinit` waits for the end of the thread and then destroys the
/// work. The work must be asked to end before; otherwise `deinit` waits indefinitely. For a duplex
/// unit, `requestStop` of its progress does this.
///
/// ```swift
/// struct Count: RealtimeWork, ~Copyable {
///   var turns = 0
///   mutating func run() { while turns < 1000 { turns += 1 } }
/// }
/// let thread = try RealtimeThread(name: "count", priority: .realtime(70), Count())
/// print(thread.granted)
/// let count = thread.join()
/// precondition(count.turns == 1000)
/// ```
public struct RealtimeThread<Work: RealtimeWork & ~Copyable & Sendable>: ~Copyable,
  @unchecked Sendable
{
  // @unchecked because the work belongs to the thread until it has ended, and to the one owner of
  // this value from then on.
  private let work: UnsafeMutablePointer<Work>
  // Unmanaged, because `join` moves the work out and ends the value without its `deinit`.
  private let thread: Unmanaged<POSIXThread>

  /// The priority that the thread was granted.
  public var granted: GrantedPriority { thread.takeUnretainedValue().granted }

  /// Starts the thread, and waits until it has requested its priority and touched its stack. `name`
  /// is shown by `top -H`, its first 15 bytes only. Throws a `ThreadFailure` if the system refuses
  /// to create a thread.
  public init(
    name: String, priority: ThreadPriority, stackByteCount: Int = 262_144, _ work: consuming Work
  ) throws(ThreadFailure) {
    let workPointer = UnsafeMutablePointer<Work>.allocate(capacity: 1)
    workPointer.initialize(to: work)
    self.work = workPointer
    do throws(ThreadFailure) {
      let made = try POSIXThread(
        name: name, priority: priority, stackByteCount: stackByteCount,
        body: { workPointer.pointee.run() })
      thread = Unmanaged.passRetained(made)
    } catch {
      workPointer.deinitialize(count: 1)
      workPointer.deallocate()
      throw error
    }
  }

  /// Interrupts a system call in which the thread sleeps: a stalled device would never wake it. The
  /// thread receives SIGURG, which it unblocks when it starts. Any thread.
  public borrowing func interrupt() {
    thread.takeUnretainedValue().interrupt()
  }

  /// Whether the calling thread is this one.
  public var isCurrent: Bool { thread.takeUnretainedValue().isCurrent }

  /// Waits for the end of the thread and returns its work.
  public consuming func join() -> Work {
    thread.takeRetainedValue().join()
    let done = work.move()
    work.deallocate()
    discard self
    return done
  }

  /// Detaches the thread permanently, with its work. For a thread that may never return from a
  /// call, such as one of a driver that hangs.
  public consuming func abandon() {
    thread.takeUnretainedValue().abandon()
    discard self
  }

  deinit {
    thread.takeRetainedValue().join()
    work.deinitialize(count: 1)
    work.deallocate()
  }
}

/// A POSIX thread that runs a closure. The creating thread joins it, once.
final class POSIXThread {
  private let name: String
  private let priority: ThreadPriority
  private let stackByteCount: Int
  private let body: () -> Void
  private var identity = pthread_t()
  // Allocated separately, not a property: one thread waits for it while the other posts it.
  private let isReady = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
  /// The granted priority. Written by the thread before `init` returns, and not after.
  private(set) var granted = GrantedPriority.normal

  init(
    name: String, priority: ThreadPriority, stackByteCount: Int, body: @escaping () -> Void
  ) throws(ThreadFailure) {
    self.name = name
    self.priority = priority
    self.stackByteCount = max(stackByteCount, 65536)
    self.body = body
    isReady.initialize(to: sem_t())
    sem_init(isReady, 0, 0)
    let result = start()
    guard result == 0 else {
      throw ThreadFailure(message: "No thread could be made: \(String(cString: strerror(result))).")
    }
    while sem_wait(isReady) != 0 && errno == EINTR {}
  }

  deinit {
    sem_destroy(isReady)
    isReady.deallocate()
  }

  func interrupt() {
    linux_interrupt_thread(identity)
  }

  var isCurrent: Bool { pthread_equal(identity, pthread_self()) != 0 }

  func join() {
    pthread_join(identity, nil)
  }

  /// Detaches the thread. This object is never freed, because the thread may still use it.
  func abandon() {
    AbandonedThreads.latch.raise()
    pthread_detach(identity)
  }

  private func start() -> Int32 {
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setstacksize(&attributes, stackByteCount)
    // The thread starts with normal priority, independent of the priority of the creating thread.
    pthread_attr_setinheritsched(&attributes, Int32(PTHREAD_EXPLICIT_SCHED))
    return pthread_create(
      &identity, &attributes,
      { argument in
        guard let argument else { return nil }
        Unmanaged<POSIXThread>.fromOpaque(argument).takeUnretainedValue().main()
        return nil
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  private func main() {
    unblockSignals()
    linux_name_thread(name)
    granted = priority.acquire()
    if priority != .normal {
      // A page that is first touched while audio runs would make the thread wait for the kernel.
      // The part left out contains data of the C library and is already touched.
      linux_touch_stack(stackByteCount - 32768)
    }
    sem_post(isReady)
    body()
  }

  /// Unblocks the signals that are meant for this thread. A thread inherits the signal mask of its
  /// creator, and the threads that run Swift tasks block nearly all signals: SIGXCPU, which reports
  /// that realtime code used too much time, would go to another thread, and SIGURG, which
  /// `interrupt` sends, would never arrive.
  private func unblockSignals() {
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGXCPU)
    sigaddset(&signals, SIGURG)
    pthread_sigmask(SIG_UNBLOCK, &signals, nil)
  }
}

/// Threads that were abandoned.
package enum AbandonedThreads {
  fileprivate static let latch = AtomicFlag()

  /// Whether there may be any. If so, the program should exit without the exit handlers of its
  /// libraries, which could wait for these threads.
  package static var exist: Bool { latch.isRaised }
}
