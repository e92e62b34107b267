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
        slot: shared.share(), places: places, direction: direction, granted: stream, news: news))
    slot = shared
  }

  /// Makes the thread end as soon as it can.
  func end() {
    slot.pointer.pointee.isOver.store(true, ordering: .relaxed)
    thread.interrupt()
  }

  deinit { end() }
}

/// The loop of the thread of `PCMSearch`: closes a lost PCM, and opens it again once it is back.
private struct PCMSearching: RealtimeWork, ~Copyable, @unchecked Sendable {
  // @unchecked because the slot's state says which thread owns it, and a mutex protects `news`.
  let slot: SharedState<ReconnectSlot>
  let places: DeviceLocations
  let direction: PCMDirection
  let granted: StreamConfiguration
  let news: MutexBox<DeviceReturn?>

  private var isOver: Bool { slot.pointer.pointee.isOver.load(ordering: .relaxed) }

  mutating func run() {
    while !isOver {
      // Acquires the PCM that the audio thread handed over; pairs with the store in
      // `ALSAStream.detach`.
      if slot.pointer.pointee.state.load(ordering: .acquiring) == ReconnectSlot.lost { reopen() }
      rest(milliseconds: 100)
    }
  }

  /// Closes the PCM, because the driver of an unplugged card waits for that, and opens it again.
  private func reopen() {
    let usesJACK = slot.pointer.pointee.pcm?.usesJACK ?? false
    let newest = JACKClients.newest
    guard beginTurn(usesJACK) else { return }
    slot.pointer.pointee.pcm = nil
    JACKTurn.end(if: usesJACK)
    if usesJACK { awaitClosing(upTo: newest) }
    var report = ReconnectReport()
    while !isOver {
      let found = search(usesJACK)
      if report.shouldReport(found) { news.withLock { $0 = found } }
      if case .returned = found {
        // Hands the PCM to the audio thread; pairs with the load in `ALSAStream.reattach`.
        return slot.pointer.pointee.state.store(ReconnectSlot.reopened, ordering: .releasing)
      }
      rest(milliseconds: 100)
    }
  }

  /// Begins the turn of a client of JACK. Returns false if the session ends before it comes. What
  /// is still open is then closed with the slot, again in turn.
  private func beginTurn(_ usesJACK: Bool) -> Bool {
    JACKTurn.begin(if: usesJACK, limit: .max, until: { isOver })
  }

  /// Waits until the clients of JACK up to the number `newest` are closed: JACK's library would
  /// use the memory of the server that ended for a client of the new server. Waits for 2 seconds
  /// at most, because they stay open if the server runs and ended only the lost client.
  private func awaitClosing(upTo newest: Int) {
    let start = HostClock.nanoseconds
    while !isOver, JACKClients.areOpen(upTo: newest),
      HostClock.nanoseconds &- start < 2_000_000_000
    {
      rest(milliseconds: 10)
    }
  }

  /// Sleeps for `milliseconds`, or until the session is over.
  private func rest(milliseconds: Int) {
    let end = HostClock.nanoseconds &+ UInt64(milliseconds) &* 1_000_000
    while !isOver, HostClock.nanoseconds < end { HostClock.pause(milliseconds: 10) }
  }

  private func search(_ usesJACK: Bool) -> DeviceReturn {
    guard let found = places.locate() else { return .absent }
    do throws(DeviceFailure) {
      guard let pcm = try started(found.request, usesJACK) else { return .absent }
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

  /// Opens the PCM that `request` names, and starts it. Returns nil if the session ends before its
  /// turn comes. Throws if it is not granted what it was granted before.
  private func started(_ request: DuplexRequest, _ usesJACK: Bool) throws(DeviceFailure) -> PCM? {
    guard beginTurn(usesJACK) else { return nil }
    defer { JACKTurn.end(if: usesJACK) }
    var pcm = try PCM.opening(request, direction)
    var stream = pcm.configuration
    stream.device = granted.device
    guard stream == granted else { throw .otherSettings(granted.device) }
    try pcm.startAnew(silence: slot.pointer.pointee.silence)
    return pcm
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
