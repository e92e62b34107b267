import AudioDevices
import RealtimeAudio

/// A change of devices while sound runs: the new ones are opened beside those that are used. What only the used
/// ones stand in the way of is opened again when these are closed.
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
    guard attempt?.isOver == true else { return attempt == nil ? .ready : .opening }
    guard let attempt = attempt.take() else { return .ready }
    do throws(EngineFailure) {
      let opened = try attempt.finish()
      try Self.check(opened.clock.isVirtual, isVirtual)
      device = consume opened
      return .ready
    } catch {
      guard case .device(let failure) = error, failure.kind == .busy, selection.shares(used) else {
        reply(.failure(error))
        return .failed
      }
      return .ready
    }
  }

  /// Throws where one side of a change has virtual time, and the other real time: nobody can say how long the time
  /// between was.
  static func check(_ isVirtual: Bool, _ wasVirtual: Bool) throws(EngineFailure) {
    guard isVirtual != wasVirtual else { return }
    throw .device(
      DeviceFailure(
        .invalidRequest,
        "A device in virtual time and one in real time cannot take over from each other.",
        hint: "Stop the engine, and start it again with the other device."))
  }

  /// The devices, where they could be opened beside the others.
  func takeDevice() -> OpenDevice? { device.take() }

  /// Leaves it, because of `failure`.
  func cancel(_ failure: EngineFailure) {
    attempt.take()?.abandon()
    reply(.failure(failure))
  }
}

extension DeviceSelection {
  /// Whether a device of it is one of `other` as well.
  fileprivate func shares(_ other: DeviceSelection) -> Bool {
    let identities = other.deviceNames.map(DeviceIdentity.of)
    return deviceNames.contains { identities.contains(DeviceIdentity.of($0)) }
  }
}
