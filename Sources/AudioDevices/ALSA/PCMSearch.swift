import AudioBasics
import RealtimeAudio
import Synchronization

/// The thread that searches for a lost PCM, as long as this value lives.
struct PCMSearch: ~Copyable {
  let slot: SharedState<ReconnectSlot>
  private let thread: RealtimeThread<PCMSearching>

  /// Starts a thread that, after the loss of the PCM, searches for the device at `places` until it
  /// grants `stream` again. Throws if the thread cannot be started.
  init(
    _ places: DeviceLocations, _ direction: PCMDirection, granted stream: StreamConfiguration,
    news: MutexBox<DeviceReturn?>
  ) throws(ThreadFailure) {
    let shared = SharedState(ReconnectSlot())
    thread = try RealtimeThread(
      name: "duplex-search", priority: .normal,
      PCMSearching(
        slot: shared.share(), places: places, direction: direction, granted: stream, news: news,
        usesJACK: DeviceNames.types(of: stream.device).contains("jack")))
    slot = shared
  }

  deinit {
    slot.pointer.pointee.isOver.store(true, ordering: .relaxed)
    thread.interrupt()
  }
}

/// The loop of the thread of `PCMSearch`: closes a lost PCM, and opens it again once it is back.
private struct PCMSearching: RealtimeWork, ~Copyable, @unchecked Sendable {
  // @unchecked because the slot's state says which thread owns it, and a mutex protects `news`.
  let slot: SharedState<ReconnectSlot>
  let places: DeviceLocations
  let direction: PCMDirection
  let granted: StreamConfiguration
  let news: MutexBox<DeviceReturn?>
  /// Whether the PCM is a client of JACK.
  let usesJACK: Bool

  private var isOver: Bool { slot.pointer.pointee.isOver.load(ordering: .relaxed) }

  mutating func run() {
    while !isOver {
      // Acquires the PCM that the audio thread handed over; pairs with the store in
      // `ALSAStream.detach`.
      if slot.pointer.pointee.state.load(ordering: .acquiring) == ReconnectSlot.lost { reopen() }
      HostClock.pause(milliseconds: 100)
    }
  }

  /// Closes the PCM, because the driver of an unplugged card waits for that, and opens it again.
  private func reopen() {
    guard inTurn({ slot.pointer.pointee.pcm = nil }) != nil else { return }
    // The clients of the other directions are closed before a new one is opened.
    if usesJACK { HostClock.pause(milliseconds: 500) }
    var report = ReconnectReport()
    while !isOver {
      guard let found = inTurn({ search() }) else { return }
      if report.shouldReport(found) { news.withLock { $0 = found } }
      if case .returned = found {
        // Hands the PCM to the audio thread; pairs with the load in `ALSAStream.reattach`.
        return slot.pointer.pointee.state.store(ReconnectSlot.reopened, ordering: .releasing)
      }
      HostClock.pause(milliseconds: 100)
    }
  }

  /// Returns what `body`, which opens or closes the PCM, returns; nil if it was not called because
  /// the session is over.
  private func inTurn<Answer>(_ body: () -> Answer) -> Answer? {
    guard usesJACK else { return body() }
    guard JACKTurn.begin(until: { isOver }) else { return nil }
    defer { JACKTurn.end() }
    return body()
  }

  private func search() -> DeviceReturn {
    guard let found = places.locate() else { return .absent }
    do throws(DeviceFailure) {
      var pcm = try PCM.opening(found.request, direction)
      var stream = pcm.configuration
      stream.device = granted.device
      guard stream == granted else { throw .otherSettings(granted.device) }
      try pcm.startAnew(silence: slot.pointer.pointee.silence)
      let start = HostClock.nanoseconds
      while pcm.isCapture, !pcm.hasMoved {
        guard !isOver, HostClock.nanoseconds &- start < PCM.movesWithinNanoseconds else {
          return .absent
        }
        HostClock.pause(milliseconds: 5)
      }
      slot.pointer.pointee.pcm = consume pcm
      return .returned(cards: found.cards)
    } catch {
      return DeviceReturn(error)
    }
  }
}

/// The turn to open or close a client of JACK. Its library has one state for all clients of a
/// process, and crashes if one is closed while another is opened, which would happen if the server
/// restarts during full-duplex operation. A search that waits for its turn takes notice of the end
/// of the session.
private enum JACKTurn {
  private static let isTaken = Atomic<Bool>(false)

  /// Waits for the turn; returns false if `isOver` before it comes.
  static func begin(until isOver: () -> Bool) -> Bool {
    // Acquires the state of JACK's library; pairs with the store in `end`.
    while isTaken.exchange(true, ordering: .acquiring) {
      if isOver() { return false }
      HostClock.pause(milliseconds: 10)
    }
    return true
  }

  /// Ends the turn.
  static func end() {
    // Publishes the state of JACK's library; pairs with the exchange in `begin`.
    isTaken.store(false, ordering: .releasing)
  }
}

extension DeviceFailure {
  /// Returns the failure of a device that came back with other settings.
  static func otherSettings(_ name: String) -> DeviceFailure {
    DeviceFailure(
      .refused, "The device \(name) is back, but with other settings.",
      hint: "Restore its settings, or stop and start again.")
  }
}
