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
    let opening = try DeviceOpening(Self.selection, CardReservation()) {
      (selection, _) throws(OpeningFailure) in
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
    let opening = try DeviceOpening(Self.selection, CardReservation()) {
      (selection, _) throws(OpeningFailure) in
      try OpenDevice(opening: selection, reservation: witness.take())
    }
    while !opening.isDone.isRaised { await Task.yield() }
    #expect(!witness.isClosed)
    opening.abandon()
    #expect(witness.isClosed)
  }

  @Test func `the reason for which devices cannot be opened names the device or the file`() {
    for (device, isFile) in [("sim:rate=1", false), ("sim:clock=free,mic=/nowhere.wav", true)] {
      do throws(OpeningFailure) {
        _ = try OpenDevice(opening: DeviceSelection(device: device))
        Issue.record("\(device) was opened")
      } catch {
        switch (error, EngineFailure(error)) {
        case (.device(let failure), .device(let told)): #expect(!isFile && told == failure)
        case (.file(let failure), .file(let told)): #expect(isFile && told == failure)
        default: Issue.record("\(error)")
        }
        #expect(!error.message.isEmpty && error.message == error.cause.message)
        #expect(!error.hint.isEmpty && error.hint == error.cause.hint)
      }
    }
  }

  @Test func `secondary outputs that cannot play are refused for their own reason`() {
    let simulated = "sim:clock=free"
    for (output, secondary, fault) in [
      (nil, ["sim:clock=free,delay=1"], "no output"),
      (simulated, [""], "is empty"),
      (simulated, (1...9).map { "sim:clock=free,delay=\($0)" }, "No more than 8"),
    ] as [(String?, [String], String)] {
      var selection = DeviceSelection(input: simulated, output: output)
      selection.secondaryOutputs = secondary
      do throws(OpeningFailure) {
        _ = try OpenDevice(opening: selection)
        Issue.record("\(secondary) were opened")
      } catch {
        #expect(error.message.contains(fault), "\(error.message)")
      }
    }
  }
}
