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
