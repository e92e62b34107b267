import RealtimeAudio

extension ALSADuplex {
  /// Closes all that is open: the driver of a card that was pulled waits for that.
  public mutating func letGo() {
    if configuration.capture != nil { gap.open() }
    wakeUp = nil
    capture = nil
    playback = nil
  }

  /// Looks for the same devices, by who they are, after a tenth of a second.
  public mutating func awaitReturn() -> DeviceReturn {
    HostClock.pause(milliseconds: 100)
    guard let found = places.locate(request) else { return .absent }
    do throws(DeviceFailure) {
      try adopt(ALSADuplex(opening: found.request))
      try start()
      return .returned(cards: found.cards)
    } catch {
      letGo()
      switch error.kind {
      case .notFound, .lost: return .absent
      case .busy, .refused, .permissionDenied, .invalidRequest: return .refused(error)
      }
    }
  }

  /// Goes on with what another open was granted: the same as before, or it is refused.
  private mutating func adopt(_ opened: consuming ALSADuplex) throws(DeviceFailure) {
    var granted = opened.configuration
    granted.capture?.device = configuration.capture?.device ?? ""
    granted.playback?.device = configuration.playback?.device ?? ""
    guard granted == configuration else {
      throw .otherSettings(configuration.deviceNames)
    }
    capture = opened.capture.take()
    playback = opened.playback.take()
    wakeUp = opened.wakeUp.take()
  }
}
