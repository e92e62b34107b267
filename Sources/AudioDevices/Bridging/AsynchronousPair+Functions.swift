// Audio thread.
/// What the audio thread calls.
extension AsynchronousPair {
  /// The functions of a pair.
  public static let functions = DuplexFunctions(
    now: pairNow, wait: pairWait, captured: pairCaptured, release: pairRelease, room: pairRoom,
    commit: pairCommit, takeEvent: pairTakeEvent)
}

extension DeviceMemory {
  fileprivate var pair: UnsafeMutablePointer<AsynchronousPair> {
    @_noLocks get { assumingMemoryBound(to: AsynchronousPair.self) }
  }
}

@_noLocks
private func pairNow(_ device: DeviceMemory) -> UInt64 { device.pair.pointee.time.now }

@_noLocks
private func pairWait(_ device: DeviceMemory, nanoseconds: UInt64, status: DeviceMemory) {
  device.pair.pointee.wait(noLongerThan: nanoseconds, &status.status.pointee)
}

@_noLocks
private func pairCaptured(_ device: DeviceMemory, frames: Int, lent: DeviceMemory) {
  lent.frames.pointee = device.pair.pointee.capturedFrames(frames)
}

@_noLocks
private func pairRelease(_ device: DeviceMemory, frames: Int) {
  device.pair.pointee.release(frames)
}

@_noLocks
private func pairRoom(_ device: DeviceMemory, frames: Int, lent: DeviceMemory) {
  lent.frames.pointee = device.pair.pointee.playbackRoom(frames)
}

@_noLocks
private func pairCommit(_ device: DeviceMemory, frames: Int) {
  device.pair.pointee.commit(frames)
}

@_noLocks
private func pairTakeEvent(_ device: DeviceMemory, event: DeviceMemory) {
  event.event.pointee = device.pair.pointee.takeEvent()
}
