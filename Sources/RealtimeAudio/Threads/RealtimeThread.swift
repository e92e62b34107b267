import CRealtime
import Glibc

/// Work of a thread, which owns the work while it runs and gives it back when joined.
public protocol RealtimeWork: ~Copyable {
  /// Does it all. Called once, on the thread.
  mutating func run()
}

/// The thread could not be made.
public struct ThreadFailure: ExplainedFailure, Sendable {
  /// One sentence that says why.
  public let message: String
  /// One sentence that says what to do.
  public var hint: String { "End other programs, or raise this user's limits (ulimit -a)." }
}

/// A thread that owns move-only work: moved in when it starts, handed back by `join`.
///
/// With priority `.normal` it is a plain thread, for disk or network. Letting go of the value
/// without joining waits for the thread's end, then destroys the work: have the work end first, or
/// that is for ever. A duplex unit is asked to by its progress (`requestStop`).
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
  // Unmanaged, because `join` gives the work away and ends the value without its `deinit`.
  private let thread: Unmanaged<POSIXThread>

  /// The priority the thread was given.
  public var granted: GrantedPriority { thread.takeUnretainedValue().granted }

  /// Starts the thread, and waits until it has asked for its priority and touched its stack.
  /// `name` is what `top -H` shows, its first 15 bytes. Throws where the system refuses a thread.
  public init(
    name: String, priority: ThreadPriority, stackByteCount: Int = 262_144, _ work: consuming Work
  ) throws(ThreadFailure) {
    let place = UnsafeMutablePointer<Work>.allocate(capacity: 1)
    place.initialize(to: work)
    self.work = place
    do throws(ThreadFailure) {
      let made = try POSIXThread(
        name: name, priority: priority, stackByteCount: stackByteCount,
        body: { place.pointee.run() })
      thread = Unmanaged.passRetained(made)
    } catch {
      place.deinitialize(count: 1)
      place.deallocate()
      throw error
    }
  }

  /// Ends the sleep the thread is in, if it is in one: a device that stands still never wakes it.
  public borrowing func interrupt() {
    thread.takeUnretainedValue().interrupt()
  }

  /// Whether the calling thread is this one.
  public var isCurrent: Bool { thread.takeUnretainedValue().isCurrent }

  /// Waits for the thread's end and hands its work back.
  public consuming func join() -> Work {
    thread.takeRetainedValue().join()
    let done = work.move()
    work.deallocate()
    discard self
    return done
  }

  /// Leaves the thread to itself, with its work, for good: where it may never come back from what
  /// it is in, such as a driver that hangs.
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

/// A POSIX thread with a closure to run. The thread that makes it joins it, once.
final class POSIXThread {
  private let name: String
  private let priority: ThreadPriority
  private let stackByteCount: Int
  private let body: () -> Void
  private var identity = pthread_t()
  // On its own, not a property: one thread waits for it while the other posts it.
  private let isReady = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
  /// What the thread was given. Written by the thread before `init` returns, and not after.
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

  /// It will not be joined any more. This object stays, since the thread may still use it.
  func abandon() {
    AbandonedThreads.latch.raise()
    pthread_detach(identity)
  }

  private func start() -> Int32 {
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setstacksize(&attributes, stackByteCount)
    // At normal priority, whatever the thread has that makes it.
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
    linux_name_thread(name)
    granted = priority.acquire()
    if priority != .normal {
      // A page first touched while audio runs would make it wait for the kernel. The part left out
      // holds what the C library keeps on a stack, and is touched already.
      linux_touch_stack(stackByteCount - 32768)
    }
    sem_post(isReady)
    body()
  }
}

/// Threads that were left to themselves.
package enum AbandonedThreads {
  fileprivate static let latch = AtomicFlag()

  /// Whether there may be any: then a program should end without its libraries' farewells, which
  /// could wait for them.
  package static var exist: Bool { latch.isRaised }
}
