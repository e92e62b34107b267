import AudioDevices
import RealtimeAudio

/// The opening of devices on a separate thread: a driver or a sound server may take long, or never
/// respond.
struct DeviceOpening: ~Copyable {
  /// A function that opens the devices of a selection.
  typealias Open =
    @Sendable (DeviceSelection, CardReservation) throws(OpeningFailure) -> OpenDevice

  private struct Work: RealtimeWork, ~Copyable, @unchecked Sendable {
    // @unchecked because one thread at a time owns it, and passes it to the other.
    let selection: DeviceSelection
    let reservation: CardReservation
    let open: Open
    /// The flag for the first of two events: the devices are open, or the caller no longer waits.
    let isDecided: AtomicFlag
    let isOver: AtomicFlag
    var device: OpenDevice?
    var failure: EngineFailure?

    mutating func run() {
      do throws(OpeningFailure) {
        device = try open(selection, reservation)
      } catch {
        failure = EngineFailure(error)
      }
      // The work of an abandoned thread is never freed, so nothing else would close the devices.
      if !isDecided.raiseFirst() { device = nil }
      isOver.raise()
    }
  }

  private let thread: RealtimeThread<Work>
  private let isDecided = AtomicFlag()
  /// The flag that is raised when `finish` returns at once.
  let isDone = AtomicFlag()

  /// Starts to open the devices of `selection`.
  init(
    _ selection: DeviceSelection, _ reservation: CardReservation,
    by open: @escaping Open = { (selection, reservation) throws(OpeningFailure) in
      try OpenDevice(opening: selection, reservation: reservation)
    }
  ) throws(EngineFailure) {
    do throws(ThreadFailure) {
      thread = try RealtimeThread(
        name: "duplex-open", priority: .normal, stackByteCount: 524_288,
        Work(
          selection: selection, reservation: reservation, open: open, isDecided: isDecided,
          isOver: isDone))
    } catch {
      throw .device(DeviceFailure(error))
    }
  }

  /// Waits until the opening is over, and returns the devices. Throws if they could not be opened.
  consuming func finish() throws(EngineFailure) -> OpenDevice {
    var work = thread.join()
    if let failure = work.failure { throw failure }
    guard let device = work.device.take() else { throw .stopped }
    return device
  }

  /// Abandons the opening: devices that are open now or later are closed.
  consuming func abandon() {
    if isDecided.raiseFirst() { thread.abandon() } else { _ = thread.join() }
  }
}
