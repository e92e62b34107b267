// Audio thread.
import AudioBasics
import AudioClocks
import RealtimeAudio

/// The state of each of the two devices: xruns, loss and reconnection, and their effect on the
/// other.
extension AsynchronousPair {
  /// Reads the positions of both devices. Returns a failure of either device; nil if there is none.
  @_noLocks
  mutating func poll(at now: UInt64) -> DeviceReadiness? {
    pollOutput(at: now) ?? pollInput(at: now)
  }

  @_noLocks
  private mutating func pollOutput(at now: UInt64) -> DeviceReadiness? {
    if output.reattach(&bridge, at: now) { playbackEvent = DeviceEvent(.playbackReturned) }
    switch output.poll(&bridge, at: now) {
    case nil: return nil
    case .lost?:
      guard survivesDeviceLoss else { return .lost }
      handleOutputLoss()
      return nil
    case .suspended?:
      input.needsRestart = !input.isAway
      return .suspended
    case let readiness?: return readiness
    }
  }

  @_noLocks
  private mutating func pollInput(at now: UInt64) -> DeviceReadiness? {
    input.reattach(at: now)
    switch input.poll(&bridge, at: now) {
    case nil: return nil
    case .lost?:
      guard survivesDeviceLoss else { return .lost }
      input.detach()
      return nil
    case .suspended?:
      output.needsRestart = !output.isAway
      return .suspended
    case let readiness?: return readiness
    }
  }

  /// Detaches the output, which is lost.
  @_noLocks
  mutating func handleOutputLoss() {
    output.detach()
    playbackEvent = DeviceEvent(.playbackLost)
  }

  /// Whether an event of one of the devices was not reported yet.
  var hasEvents: Bool {
    @_noLocks get { input.hasEvent || playbackEvent != nil }
  }

  /// Returns an event of one of the devices that was not reported yet; nil if there is none.
  @_noLocks
  public mutating func takeEvent() -> DeviceEvent? {
    if let event = input.takeEvent() { return event }
    defer { playbackEvent = nil }
    return playbackEvent
  }
}
