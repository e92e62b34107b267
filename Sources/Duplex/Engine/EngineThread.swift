import AudioDevices
import RealtimeAudio

/// The thread of an engine, which begins with the first request.
final class EngineThread: Sendable {
  private struct Work: RealtimeWork, ~Copyable, Sendable {
    let worker: EngineWorker

    mutating func run() { worker.main() }
  }

  private let worker: EngineWorker
  private let thread = MutexBox<RealtimeThread<Work>?>(nil)

  init(_ worker: EngineWorker) {
    self.worker = worker
  }

  /// Creates the thread if it does not exist.
  func begin() throws(EngineFailure) {
    do throws(ThreadFailure) {
      try thread.withLock { thread throws(ThreadFailure) in
        guard thread == nil else { return }
        thread = try RealtimeThread(
          name: "duplex-engine", priority: .normal, stackByteCount: 524_288, Work(worker: worker))
      }
    } catch {
      throw .device(DeviceFailure(error))
    }
  }

  /// Ends the thread and waits for it. It does not wait on the thread itself, on which a handler
  /// may have released the last reference to the engine.
  func end() {
    guard let thread = thread.withLock({ $0.take() }) else { return worker.conclude() }
    worker.request(.quit)
    if thread.isCurrent { thread.abandon() } else { _ = thread.join() }
  }
}
