import AudioDevices
import Glibc
import RealtimeAudio

/// Opens a device on a thread of its own: a sound server that stands still, or a driver, may never
/// answer. Signals and `q` end the program meanwhile.
enum DeviceOpening {
  /// What `open` answers with, or throws. `name` is what is opened, `status` how the program ends
  /// where somebody has enough of it.
  static func result<Device: ~Copyable>(
    of name: String, leavingWith status: ExitStatus,
    _ open: @escaping @Sendable () throws(DeviceFailure) -> Device
  ) throws -> Device {
    let isOver = Latch()
    let thread: RealtimeThread<Work<Device>>
    do throws(ThreadFailure) {
      thread = try RealtimeThread(
        name: "duplex-open", priority: .normal, stackByteCount: 524_288,
        Work(open: open, isOver: isOver))
    } catch {
      throw DeviceFailure(.refused, error.message, hint: "End other programs, then try again.")
    }
    // Most are open in a moment, and need no keyboard.
    for _ in 0..<100 where !isOver.isRaised { HostClock.pause(milliseconds: 1) }
    if !isOver.isRaised {
      AttendedOpening.wait(for: name, leavingWith: status) { isOver.isRaised }
    }
    return try thread.join().device()
  }

  private struct Work<Device: ~Copyable>: RealtimeWork, ~Copyable, @unchecked Sendable {
    // @unchecked because it moves whole, from one thread to the other and back.
    private let open: @Sendable () throws(DeviceFailure) -> Device
    private let isOver: Latch
    private var opened: Device?
    private var failure: DeviceFailure?

    init(open: @escaping @Sendable () throws(DeviceFailure) -> Device, isOver: Latch) {
      self.open = open
      self.isOver = isOver
    }

    mutating func run() {
      do throws(DeviceFailure) {
        opened = try open()
      } catch {
        failure = error
      }
      isOver.raise()
    }

    /// What was opened, or why nothing was.
    consuming func device() throws -> Device {
      if let failure { throw failure }
      guard let device = opened.take() else {
        throw DeviceFailure(.notFound, "No device was opened.", hint: "Try again.")
      }
      return device
    }
  }
}
