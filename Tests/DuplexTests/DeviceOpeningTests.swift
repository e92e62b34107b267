import AudioDevices
import RealtimeAudio
import Testing

@testable import Duplex

@Suite struct DeviceOpeningTests {
  private static let selection = DeviceSelection(device: "sim:clock=free")

  /// An object that is owned by an opened device and deallocated when the device is closed.
  private final class Witness: Sendable {
    private let isHeld = MutexBox<CardReservation?>(CardReservation())
    private let seen: MutexBox<WeakReservation>

    private struct WeakReservation: Sendable {
      weak var reservation: CardReservation?
    }

    init() {
      seen = MutexBox(WeakReservation(reservation: isHeld.withLock { $0 }))
    }

    func take() -> CardReservation { isHeld.withLock { $0.take() } ?? CardReservation() }
    var isClosed: Bool { seen.withLock { $0.reservation == nil } }
  }

  @Test func `devices that open after their opening was abandoned are closed`() async throws {
    let (witness, mayOpen) = (Witness(), AtomicFlag())
    let opening = try DeviceOpening(Self.selection, CardReservation()) { selection, _ in
      while !mayOpen.isRaised { HostClock.pause(milliseconds: 1) }
      return try OpenDevice(opening: selection, reservation: witness.take())
    }
    let isDone = opening.isDone
    opening.abandon()
    #expect(!witness.isClosed)
    mayOpen.raise()
    while !isDone.isRaised { await Task.yield() }
    #expect(witness.isClosed)
  }

  @Test func `abandoning a completed opening closes its devices`() async throws {
    let witness = Witness()
    let opening = try DeviceOpening(Self.selection, CardReservation()) { selection, _ in
      try OpenDevice(opening: selection, reservation: witness.take())
    }
    while !opening.isDone.isRaised { await Task.yield() }
    #expect(!witness.isClosed)
    opening.abandon()
    #expect(witness.isClosed)
  }
}
