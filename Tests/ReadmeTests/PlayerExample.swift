import AudioDevices
import AudioSessions
import SimulatedDevices

func playTwiceBackwards(_ path: String) throws {
  let wire = try SimulatedDeviceSpecification(parsing: "sim:clock=free")
  let request = DuplexRequest(captureDevice: nil, playbackDevice: "sim")
  let device = try SimulatedDevice(wire, request: request)
  let player = AudioPlayer(endsWithQueue: true)  // steered from any thread, while it plays as well
  player.addEventHandler { event in print(event.kind, event.source, event.frame ?? 0) }
  player.enqueue(path: path)  // or an address, or a decoder of yours
  player.setRegion(24000..<48000, times: 2)
  player.setReversed(true)
  player.play()
  var mixer = Mixer(device.configuration)
  mixer.player = try player.attach(to: device.configuration)  // and to another one afterwards
  mixer.endsWithPlayer = true
  let runner = SessionRunner(
    device: device, callbacks: mixer, background: player.background, meter: nil, frameLimit: nil)
  let report = try runner.run(clock: .virtual) { _, _ in .proceed }
  print("\(report.frames) frames")
}
