import AudioDevices
import RealtimeAudio
import Synchronization

/// Opens devices on a thread of its own: a driver or a sound server may take long, or never answer.
struct DeviceOpening: ~Copyable {
  /// What opens the devices of a selection.
  typealias Open = @Sendable (DeviceSelection, CardReservation) throws -> OpenDevice

  /// Which came first: the devices are open, or nobody waits for them any more.
  private final class Decision: Sendable {
    private let isMade = Atomic(false)

    /// True for the first of both.
    func make() -> Bool { !isMade.exchange(true, ordering: .acquiringAndReleasing) }
  }

  private struct Work: RealtimeWork, ~Copyable, @unchecked Sendable {
    // @unchecked because it moves whole, from one thread to the other and back.
    let selection: DeviceSelection
    let reservation: CardReservation
    let open: Open
    let decision: Decision
    let isOver: AtomicFlag
    var device: OpenDevice?
    var failure: EngineFailure?

    mutating func run() {
      do {
        device = try open(selection, reservation)
      } catch {
        failure = EngineFailure(error)
      }
      // Nobody frees an abandoned thread's work, and so nobody else would close them.
      if !decision.make() { device = nil }
      isOver.raise()
    }
  }

  private let thread: RealtimeThread<Work>
  private let decision = Decision()
  /// Raised when `finish` answers at once.
  let isDone = AtomicFlag()

  /// Begins to open the devices of `selection`.
  init(
    _ selection: DeviceSelection, _ reservation: CardReservation,
    by open: @escaping Open = { try OpenDevice(opening: $0, reservation: $1) }
  ) throws(EngineFailure) {
    do throws(ThreadFailure) {
      thread = try RealtimeThread(
        name: "duplex-open", priority: .normal, stackByteCount: 524_288,
        Work(
          selection: selection, reservation: reservation, open: open, decision: decision,
          isOver: isDone))
    } catch {
      throw .device(DeviceFailure(error))
    }
  }

  /// Waits until it is over, and answers with the devices.
  consuming func finish() throws(EngineFailure) -> OpenDevice {
    var work = thread.join()
    if let failure = work.failure { throw failure }
    guard let device = work.device.take() else { throw .stopped }
    return device
  }

  /// Leaves it to itself: devices that are open by now, or later, are closed.
  consuming func abandon() {
    if decision.make() { thread.abandon() } else { _ = thread.join() }
  }
}
