import AudioDevices
import AudioSessions
import SimulatedDevices

func playTwiceBackwards(_ path: String) throws {
  let wire = try SimulatedDeviceSpecification(parsing: "sim:clock=free")
  let request = DuplexRequest(captureDevice: nil, playbackDevice: "sim")
  let device = try SimulatedDevice(wire, request: request)
  var shape = AudioPlayer.Shape(sampleRate: 48000, channelCount: 2, periodFrames: 256)
  shape.endsWithQueue = true
  let player = AudioPlayer(shape)  // steered from any thread, while it plays as well
  player.onEvent { event in print(event.kind, event.source, event.frame ?? 0) }
  player.enqueue(path: path)  // or an address, or a decoder of yours
  player.setRegion(24000..<48000, times: 2)
  player.setReversed(true)
  player.play()
  var mixer = Mixer(periodFrames: 256, captureChannels: 0, playbackChannels: 2)
  mixer.player = player.takePlayer()
  mixer.endsWithPlayer = true
  let runner = SessionRunner(
    device: device, callbacks: mixer, background: player.background, meter: nil, frameLimit: nil)
  let report = try runner.run(clock: .virtual) { _, _ in .proceed }
  print("\(report.frames) frames")
}
