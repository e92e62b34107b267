import Glibc
import Synchronization
import Testing

@testable import RealtimeAudio

@Suite struct RealtimeThreadTests {
  @Test(arguments: [ThreadPriority.normal, .realtime(10)])
  func `join() returns the work of a thread`(priority: ThreadPriority) throws {
    let thread = try RealtimeThread(name: "sum", priority: priority, Sum(upTo: 1000))
    let sum = thread.join()
    #expect(sum.total == 500_500)
  }

  @Test func `a thread that is not joined ends before its owner is released`() throws {
    let farewell = Farewell()
    do {
      _ = try RealtimeThread(name: "lone", priority: .normal, Lone(farewell: farewell))
    }
    let isSaid = farewell.isSaid.load(ordering: .acquiring)
    #expect(isSaid)
  }

  @Test func `the granted priority is known at once, with a warning if it is lower than requested`()
    throws
  {
    let thread = try RealtimeThread(name: "grant", priority: .realtime(10), Sum(upTo: 1))
    let granted = thread.granted
    _ = thread.join()
    switch granted.policy {
    case .normal: #expect(granted.number == 0 && granted.warning != nil)
    case .fifo: #expect(granted.number == 10 || granted.warning != nil)
    case .roundRobin: #expect(granted.number > 0)
    }
  }

  @Test func `a thread of normal priority is granted normal priority`() throws {
    let thread = try RealtimeThread(name: "normal", priority: .normal, Sum(upTo: 1))
    #expect(thread.granted == .normal)
    _ = thread.join()
  }

  @Test func `a priority above the range is limited to the range`() throws {
    let thread = try RealtimeThread(name: "high", priority: .realtime(1000), Sum(upTo: 1))
    #expect(thread.granted.number <= 99)
    _ = thread.join()
  }

  @Test func `a thread has a stack of the requested size`() throws {
    let work = try RealtimeThread(
      name: "deep", priority: .realtime(10), stackByteCount: 4 << 20, Deep()
    ).join()
    #expect(work.depth == 1000)
  }

  @Test func `a thread whose name is too long runs`() throws {
    let thread = try RealtimeThread(
      name: "äöüäöüäöüäöüäöüäöüäöü", priority: .normal, Sum(upTo: 2))
    #expect(thread.join().total == 3)
  }

  /// The threads that run tasks block nearly all signals.
  @Test func `a thread that a task creates can be interrupted, and receives its own signals`()
    async throws
  {
    let sleeper = try await Task.detached { try Self.interrupted() }.value
    #expect(sleeper.blocked.isEmpty)
    #expect(sleeper.isInterrupted)
  }

  @Test func `a thread receives its own signals whatever its creator blocks`() throws {
    var all = sigset_t()
    var before = sigset_t()
    sigfillset(&all)
    pthread_sigmask(SIG_BLOCK, &all, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
    let sleeper = try Self.interrupted()
    #expect(sleeper.blocked.isEmpty)
    #expect(sleeper.isInterrupted)
  }

  /// Runs a thread that sleeps, and interrupts it until it ends.
  private static func interrupted() throws -> (blocked: [Int32], isInterrupted: Bool) {
    let isAwake = AtomicFlag()
    let thread = try RealtimeThread(name: "sleeper", priority: .normal, Sleeper(isAwake: isAwake))
    while !isAwake.isRaised {
      thread.interrupt()
      sched_yield()
    }
    let sleeper = thread.join()
    return (sleeper.blocked, sleeper.isInterrupted)
  }
}

/// Work that sleeps in a system call.
private struct Sleeper: RealtimeWork, ~Copyable, Sendable {
  let isAwake: AtomicFlag
  /// The signals of a realtime thread that are blocked.
  var blocked: [Int32] = []
  var isInterrupted = false

  mutating func run() {
    var mask = sigset_t()
    pthread_sigmask(SIG_BLOCK, nil, &mask)
    blocked = [SIGXCPU, SIGURG].filter { sigismember(&mask, $0) != 0 }
    // Without the interruption the sleep ends by itself, so that the test fails.
    isInterrupted = poll(nil, 0, 5000) == -1 && errno == EINTR
    isAwake.raise()
  }
}

private struct Sum: RealtimeWork, ~Copyable, Sendable {
  let last: Int
  var total = 0

  init(upTo last: Int) { self.last = last }

  mutating func run() {
    for number in 1...last { total += number }
  }
}

private final class Farewell: Sendable {
  let isSaid = Atomic(false)
}

private struct Lone: RealtimeWork, ~Copyable, Sendable {
  let farewell: Farewell
  mutating func run() { farewell.isSaid.store(true, ordering: .releasing) }
}

/// Work that uses more than 1 KiB of stack per step, in total more than the default of 256 KiB for
/// a thread.
private struct Deep: RealtimeWork, ~Copyable, Sendable {
  var depth = 0

  mutating func run() { depth = descend(1000) }

  @inline(never)
  private func descend(_ steps: Int) -> Int {
    guard steps > 0 else { return 0 }
    return withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 16) { bytes in
      bytes[0] = UInt8(truncatingIfNeeded: steps)
      return descend(steps - 1) + (bytes[0] == UInt8(truncatingIfNeeded: steps) ? 1 : 0)
    }
  }
}
