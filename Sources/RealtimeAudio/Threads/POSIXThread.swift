import CRealtime
import Glibc

/// A POSIX thread with a closure to run. Whoever makes it joins it, once.
final class POSIXThread {
  private let name: String
  private let priority: ThreadPriority
  private let stackByteCount: Int
  private let body: () -> Void
  private var identity = pthread_t()
  // On its own, not a property: one thread waits for it while the other posts it.
  private let isReady = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
  /// What the thread was given. Written by the thread before `init` returns, by nobody after.
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

  func join() {
    pthread_join(identity, nil)
  }

  /// Nobody joins it any more. This object stays, since the thread may still use it.
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
public enum AbandonedThreads {
  fileprivate static let latch = Latch()

  /// Whether there may be any: then a program should end without its libraries' farewells, which
  /// could wait for them.
  public static var exist: Bool { latch.isRaised }
}
