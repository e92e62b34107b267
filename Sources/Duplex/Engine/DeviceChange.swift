import AudioDevices
import RealtimeAudio

/// A change of devices while audio runs: the new devices are opened while the current ones are in
/// use. If only the current devices prevent this, the new ones are opened again after the current
/// ones are closed.
final class DeviceChange {
  /// A callback that receives the granted configuration, or the failure.
  typealias Reply = @Sendable (Result<DuplexConfiguration?, EngineFailure>) -> Void

  /// The state of a change.
  enum State {
    /// The devices are being opened.
    case opening
    /// The session may end: the new devices are open, or wait until the current ones are closed.
    case ready
    /// The devices cannot be opened: the current ones stay in use.
    case failed
  }

  let selection: DeviceSelection
  let reply: Reply
  private var attempt: DeviceOpening?
  private var device: OpenDevice?

  /// Starts to open the devices of `selection`; `reply` receives the result.
  init(
    _ selection: DeviceSelection, _ reservation: CardReservation,
    _ reply: @escaping Reply
  ) throws(EngineFailure) {
    self.selection = selection
    self.reply = reply
    attempt = try DeviceOpening(selection, reservation)
  }

  /// Returns the state of the change. `used` are the current devices, which run in virtual time if
  /// `isVirtual`.
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

  /// Throws if one side of a change runs in virtual time and the other in real time: neither clock
  /// could measure the time between them.
  static func check(_ isVirtual: Bool, _ wasVirtual: Bool) throws(EngineFailure) {
    guard isVirtual != wasVirtual else { return }
    throw .device(
      DeviceFailure(
        .invalidRequest,
        "A device in virtual time and one in real time cannot take over from each other.",
        hint: "Stop the engine, and start it again with the other device."))
  }

  /// The flag that is raised when the devices are open or cannot be opened; nil if the result has
  /// been read already.
  var isDone: AtomicFlag? {
    switch attempt {
    case .some(let attempt): attempt.isDone
    case .none: nil
    }
  }

  /// Returns the devices; nil if they could not be opened while the current devices `used`, which
  /// run in virtual time if `isVirtual`, are in use. Throws if they cannot be opened. Must be
  /// called after `isDone` is raised.
  func takeDevice(used: DeviceSelection, isVirtual: Bool) throws(EngineFailure) -> OpenDevice? {
    try finish(used, isVirtual: isVirtual)
    return device.take()
  }

  /// Reads the result of the attempt. Throws if it failed, unless the current devices were the
  /// cause.
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

  /// Cancels the change and replies with `failure`.
  func cancel(_ failure: EngineFailure) {
    attempt.take()?.abandon()
    reply(.failure(failure))
  }

  deinit { attempt.take()?.abandon() }
}

extension DeviceSelection {
  /// Returns whether one of the devices is also a device of `other`.
  fileprivate func shares(_ other: DeviceSelection) -> Bool {
    let identities = other.deviceNames.map(DeviceIdentity.of)
    return deviceNames.contains { identities.contains(DeviceIdentity.of($0)) }
  }
}
