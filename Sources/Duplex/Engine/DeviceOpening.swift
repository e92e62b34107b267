import AudioDevices
import RealtimeAudio

/// Opens devices on a thread of its own: a driver or a sound server may take long, or never answer.
struct DeviceOpening: ~Copyable {
  private struct Work: RealtimeWork, ~Copyable, @unchecked Sendable {
    // @unchecked because it moves whole, from one thread to the other and back.
    let selection: DeviceSelection
    let reservation: CardReservation
    let isOver: AtomicFlag
    var device: OpenDevice?
    var failure: EngineFailure?

    mutating func run() {
      do {
        device = try OpenDevice(opening: selection, reservation: reservation)
      } catch {
        failure = EngineFailure(error)
      }
      isOver.raise()
    }
  }

  private let thread: RealtimeThread<Work>
  /// Raised when `finish` answers at once.
  let isDone = AtomicFlag()

  /// Begins to open the devices of `selection`.
  init(_ selection: DeviceSelection, _ reservation: CardReservation) throws(EngineFailure) {
    do throws(ThreadFailure) {
      thread = try RealtimeThread(
        name: "duplex-open", priority: .normal, stackByteCount: 524_288,
        Work(selection: selection, reservation: reservation, isOver: isDone))
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

  /// Leaves it to itself.
  consuming func abandon() { thread.abandon() }
}
