import AudioDevices
import AudioSessions
import RealtimeAudio

/// The background work of an engine that outlives a session on one device: decoding and writing.
///
/// In real time, each piece of work has a separate thread. In virtual time, the session steps all
/// pieces in order.
final class SharedWork: BackgroundWork, @unchecked Sendable {
  // @unchecked because the list is behind a lock, and one thread at a time steps what is in it.
  private struct Piece {
    let work: any BackgroundWork
    var thread: BackgroundThread?
    /// Whether a step has returned that there will be no more steps.
    var isOver = false
  }

  private let pieces = MutexBox<[Piece]>([])
  private let isSteppedBySession = MutexBox(false)
  private let isConcluded = MutexBox(false)

  /// Adds `work`, which begins at once. Throws if its thread cannot be created.
  func add(_ work: any BackgroundWork) throws(EngineFailure) {
    let isVirtual = isSteppedBySession.withLock { $0 }
    let thread = isVirtual ? nil : try Self.thread(work)
    pieces.withLock { $0.append(Piece(work: work, thread: thread)) }
  }

  /// Prepares for a session, which steps the work if time is virtual. Called between two sessions.
  /// Throws if a thread cannot be created.
  func beginSession(isVirtual: Bool) throws(EngineFailure) {
    isConcluded.withLock { $0 = false }
    isSteppedBySession.withLock { $0 = isVirtual }
    guard !isVirtual else { return }
    for index in pieces.withLock({ $0.indices }) {
      guard let work = pieces.withLock({ $0[index].thread == nil ? $0[index].work : nil }) else {
        continue
      }
      let thread = try Self.thread(work)
      pieces.withLock { $0[index].thread = thread }
    }
  }

  private static func thread(_ work: any BackgroundWork) throws(EngineFailure) -> BackgroundThread {
    do throws(DeviceFailure) {
      return try BackgroundThread(work)
    } catch {
      throw .device(error)
    }
  }

  /// Steps `work` to its end, or waits until its thread has ended, and removes it.
  func finish(_ work: any BackgroundWork) {
    let piece = pieces.withLock { pieces -> Piece? in
      pieces.firstIndex { $0.work === work }.map { pieces.remove(at: $0) }
    }
    guard let piece else { return }
    if let thread = piece.thread {
      thread.join()
    } else {
      while work.step() { HostClock.pause(milliseconds: 1) }
    }
  }

  /// Returns whether `work` has nothing more to do.
  func isDone(_ work: any BackgroundWork) -> Bool {
    pieces.withLock { pieces in
      guard let piece = pieces.first(where: { $0.work === work }) else { return true }
      return piece.thread?.isDone ?? piece.isOver
    }
  }

  private func noteOver(_ work: any BackgroundWork) {
    pieces.withLock { pieces in
      if let index = pieces.firstIndex(where: { $0.work === work }) { pieces[index].isOver = true }
    }
  }

  // MARK: A session where time is virtual

  func step() -> Bool {
    let list = pieces.withLock { $0.compactMap { $0.thread == nil ? $0.work : nil } }
    for work in list where !work.step() { noteOver(work) }
    return !isConcluded.withLock { $0 }
  }

  func conclude() { isConcluded.withLock { $0 = true } }

  var holdsVirtualTime: Bool {
    pieces.withLock { $0.contains { $0.thread == nil && $0.work.holdsVirtualTime } }
  }
}
