import FakePCM

@testable import AudioDevices

/// Both directions of a fake device, which advances by a period on each wait.
final class ALSADuplexRig {
  let capture: FakePCM?
  let playback: FakePCM?
  private var device: ALSADuplex
  var status = DeviceStatus()

  init(
    capture: Bool = true, playback: Bool = true, isLinked: Bool = true, buffer: Int = 256,
    step: Int = 64, headroom: Int? = nil, isHardware: Bool = false, isServer: Bool = false,
    card: Int32 = 0
  ) throws {
    self.capture = capture ? .make() : nil
    self.playback = playback ? .make() : nil
    self.playback?.pointee.buffer = buffer
    self.capture?.pointee.companion = self.playback
    self.capture?.pointee.refuses_link = !isLinked
    self.capture?.pointee.is_hardware = isHardware
    self.capture?.pointee.is_server = isServer
    self.capture?.pointee.card = card
    (self.capture ?? self.playback)?.pointee.step = step
    var request = DuplexRequest.fake(self.capture, self.playback)
    request.headroomFrames = headroom
    device = try ALSADuplex(opening: request)
    self.playback?.fill { _ in 7 }
    try device.start()
  }

  func wait() -> String {
    device.wait(noLongerThan: 0, &status)
    return "\(status.readiness)"
  }

  var configuration: DuplexConfiguration { device.configuration }
  var hasTwoClocks: Bool { device.hasTwoClocks }
  func capturedFrames() -> DeviceFrames? { device.capturedFrames(64) }
  func playbackRoom() -> DeviceFrames? { device.playbackRoom(64) }
  func recover() throws { try device.recover() }
  func drain() { device.stop(draining: true) }
  func close() { device.close() }
  func pollForReconnection() -> DeviceReturn { device.pollForReconnection() }

  func cycle() {
    if capture != nil, device.capturedFrames(64) != nil { device.release(64) }
    if playback != nil, device.playbackRoom(64) != nil { device.commit(64) }
  }
}
