import AudioDevices
import RealtimeAudio

/// A change of devices while sound runs: the new ones are opened beside those that are used. What
/// only the used ones stand in the way of is opened again when these are closed.
final class DeviceChange {
  /// Told the devices as they were granted, or why not.
  typealias Reply = @Sendable (Result<DuplexConfiguration?, EngineFailure>) -> Void

  /// How far it is.
  enum State {
    /// The devices are being opened.
    case opening
    /// The session may end: the devices are open, or wait for those that are used.
    case ready
    /// They cannot be opened: all stays as it is.
    case failed
  }

  let selection: DeviceSelection
  let reply: Reply
  private var attempt: DeviceOpening?
  private var device: OpenDevice?

  /// Begins to open the devices of `selection`; `reply` is told what came of it.
  init(
    _ selection: DeviceSelection, _ reservation: CardReservation,
    _ reply: @escaping Reply
  ) throws(EngineFailure) {
    self.selection = selection
    self.reply = reply
    attempt = try DeviceOpening(selection, reservation)
  }

  /// Looks how far it is; `used` are the devices that are used meanwhile, in virtual time or not.
  func poll(used: DeviceSelection, isVirtual: Bool) -> State {
    if let isDone, !isDone.isRaised { return .opening }
    do throws(EngineFailure) {
      try finish(used, isVirtual: isVirtual)
      return .ready
    } catch {
      reply(.failure(error))
      return .failed
    }
  }

  /// Throws where one side of a change has virtual time, and the other real time: the time between
  /// them could not be measured by either clock.
  static func check(_ isVirtual: Bool, _ wasVirtual: Bool) throws(EngineFailure) {
    guard isVirtual != wasVirtual else { return }
    throw .device(
      DeviceFailure(
        .invalidRequest,
        "A device in virtual time and one in real time cannot take over from each other.",
        hint: "Stop the engine, and start it again with the other device."))
  }

  /// Raised when the devices are open, or cannot be opened; nil where that is known already.
  var isDone: AtomicFlag? {
    switch attempt {
    case .some(let attempt): attempt.isDone
    case .none: nil
    }
  }

  /// The devices, where they could be opened beside the others; `used` are these, in virtual time
  /// or not. Throws why they cannot be opened. Once `isDone`.
  func takeDevice(used: DeviceSelection, isVirtual: Bool) throws(EngineFailure) -> OpenDevice? {
    try finish(used, isVirtual: isVirtual)
    return device.take()
  }

  /// Takes what came of the attempt. Throws where it failed, unless the devices that are used stood
  /// in its way.
  private func finish(_ used: DeviceSelection, isVirtual: Bool) throws(EngineFailure) {
    guard let attempt = attempt.take() else { return }
    do throws(EngineFailure) {
      let opened = try attempt.finish()
      try Self.check(opened.clock.isVirtual, isVirtual)
      device = consume opened
    } catch {
      guard case .device(let failure) = error, failure.kind == .busy, selection.shares(used) else {
        throw error
      }
    }
  }

  /// Leaves it, because of `failure`.
  func cancel(_ failure: EngineFailure) {
    attempt.take()?.abandon()
    reply(.failure(failure))
  }

  deinit { attempt.take()?.abandon() }
}

extension DeviceSelection {
  /// Whether a device of it is one of `other` as well.
  fileprivate func shares(_ other: DeviceSelection) -> Bool {
    let identities = other.deviceNames.map(DeviceIdentity.of)
    return deviceNames.contains { identities.contains(DeviceIdentity.of($0)) }
  }
}
