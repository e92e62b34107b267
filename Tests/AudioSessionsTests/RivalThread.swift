import Foundation
import RealtimeAudio

/// A thread that runs into a lock which the test holds: the test continues once the thread waits
/// for the lock, or has ended because there is none, however busy the machine is.
final class RivalThread: Sendable {
  private struct State {
    /// The thread's folder below `/proc`; nil until it has begun.
    var folder: String?
    var hasEnded = false
  }

  private let state = MutexBox(State())

  init(_ work: @escaping @Sendable () -> Void) {
    let state = state
    Thread {
      let folder = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self")
      state.withLock { $0.folder = folder ?? "" }
      state.notifyAll()
      work()
      state.withLock { $0.hasEnded = true }
      state.notifyAll()
    }.start()
  }

  /// Returns when the thread waits for another one, or has ended.
  func waitUntilItWaits() {
    let folder = state.wait { $0.folder }
    var switches: Substring?
    while !state.withLock({ $0.hasEnded }) {
      // A thread that sleeps for good, and not for a moment, is not switched in between.
      let found = Self.switchesOfSleeper(folder)
      if found != nil, found == switches { return }
      switches = found
      sched_yield()
    }
  }

  /// Returns when the thread has ended.
  func waitForEnd() { state.wait { $0.hasEnded ? () : nil } }

  /// Returns how often a thread that sleeps has been switched; nil if it does not sleep.
  private static func switchesOfSleeper(_ folder: String) -> Substring? {
    guard let text = try? String(contentsOfFile: "/proc/\(folder)/status", encoding: .utf8),
      text.contains("\nState:\tS")
    else { return nil }
    return text.split(separator: "\n").last { $0.hasPrefix("voluntary_ctxt_switches") }
  }
}
