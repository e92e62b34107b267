import AudioBasics
import Glibc
import RealtimeAudio

/// The turn of a thread to open, configure, start, stop or close clients of JACK.
///
/// JACK's library has one state for all clients of a process, and crashes if one is closed while
/// another is opened, as full-duplex operation would do if the server restarts. All threads that
/// open and close PCMs take turns. The audio thread does so only where it opens and closes a device
/// itself, and never in a cycle or in the recovery of a stream while others continue.
enum JACKTurn {
  private struct Holder {
    var thread: pthread_t
    /// The number of calls of `begin` without their `end`.
    var depth = 1
  }

  private static let holder = MutexBox<Holder?>(nil)
  /// The time in nanoseconds for which a thread waits for the turn: another one may never return
  /// from a call to a server that hangs.
  static let limitNanoseconds: UInt64 = 3_000_000_000

  /// Begins the turn of the calling thread, which may already have it, if it `isNeeded`. Returns
  /// false, and begins no turn, if `isOver` returns true or the limit passes before the turn comes.
  static func begin(
    if isNeeded: Bool = true, limit: UInt64 = limitNanoseconds,
    until isOver: () -> Bool = { false }
  ) -> Bool {
    guard isNeeded else { return true }
    let start = HostClock.nanoseconds
    while !take() {
      guard !isOver(), HostClock.nanoseconds &- start < limit else { return false }
      HostClock.pause(milliseconds: 10)
    }
    return true
  }

  /// Ends the turn that the last `begin` of this thread began, if it was needed.
  static func end(if isNeeded: Bool = true) {
    guard isNeeded else { return }
    holder.withLock {
      $0?.depth -= 1
      if $0?.depth == 0 { $0 = nil }
    }
  }

  private static func take() -> Bool {
    let thread = pthread_self()
    return holder.withLock {
      guard let current = $0 else {
        $0 = Holder(thread: thread)
        return true
      }
      guard pthread_equal(current.thread, thread) != 0 else { return false }
      $0?.depth += 1
      return true
    }
  }
}

/// The open clients of JACK in this process, by the numbers in which they were opened.
enum JACKClients {
  private static let clients = MutexBox((newest: 0, open: Set<Int>()))

  /// The number of the client that was opened last.
  static var newest: Int { clients.withLock { $0.newest } }

  /// Notes that a client is opened, and returns its number.
  static func add() -> Int {
    clients.withLock {
      $0.newest += 1
      $0.open.insert($0.newest)
      return $0.newest
    }
  }

  /// Notes that the client with this number is closed.
  static func remove(_ number: Int) {
    clients.withLock { _ = $0.open.remove(number) }
  }

  /// Returns whether a client is open that was opened before the one after `newest`.
  static func areOpen(upTo newest: Int) -> Bool {
    clients.withLock { $0.open.contains { $0 <= newest } }
  }
}

extension DeviceFailure {
  /// Returns the failure of a JACK server that keeps another thread of the process waiting.
  static func noTurn(_ name: String) -> DeviceFailure {
    DeviceFailure(
      .refused, "The JACK server behind \(name) has not answered for 3 seconds.",
      hint: "Check whether it still runs, then start again.")
  }
}
